/* A disk that forgets, for the test `power`: preloaded into the server.
 *
 * What the program writes to files named `ledger.db…` in $POWER_ROOT goes to the real files as ever. $POWER_DISK holds what
 * a disk must still have when the power goes at this moment:
 *   content-<inode>   the bytes that were waited for (fsync, fdatasync), written when the program waits
 *   names             the files that the folder had when the folder itself was waited for: "<inode> <name>" in lines
 * The test puts a home together from both and from what chance lets survive of the rest.
 *
 * Files are known by inode, not by descriptor: one thread writes, another one opens the same file only to wait for it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 64
#define RANGES 65536

struct range { off_t from, to; };
struct tracked { ino_t inode; struct range *ranges; size_t count; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tracked files[FILES];
static size_t file_count;
static __thread int inside; /* calls that this library makes itself are not watched */

static const char *root(void) { return getenv("POWER_ROOT"); }
static const char *disk(void) { return getenv("POWER_DISK"); }

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

static void die(const char *what) {
    fprintf(stderr, "panicked: the disk of the test cannot %s: %s\n", what, strerror(errno));
    abort();
}

/* Whether a descriptor is one of the files of the store. */
static int is_watched(int fd, struct stat *facts) {
    char link[64], path[4096];
    if (!root() || !disk() || fd < 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    size_t prefix = strlen(root());
    if (strncmp(path, root(), prefix) || strncmp(path + prefix, "/ledger.db", 10)) return 0;
    if (strchr(path + prefix + 1, '/') || strstr(path, "-shm")) return 0;
    return fstat(fd, facts) == 0 && S_ISREG(facts->st_mode);
}

static int is_root(int fd) {
    struct stat facts, ours;
    return root() && disk() && fstat(fd, &facts) == 0 && S_ISDIR(facts.st_mode) && stat(root(), &ours) == 0 &&
           facts.st_ino == ours.st_ino && facts.st_dev == ours.st_dev;
}

static struct tracked *of(ino_t inode) {
    for (size_t at = 0; at < file_count; at++)
        if (files[at].inode == inode) return &files[at];
    if (file_count == FILES) die("follow so many files");
    struct tracked *file = &files[file_count++];
    file->inode = inode;
    file->ranges = calloc(RANGES, sizeof *file->ranges);
    if (!file->ranges) die("remember");
    return file;
}

static void copy_range(int from, int to, struct range range) {
    static char bytes[1 << 16];
    ssize_t (*do_pwrite)(int, const void *, size_t, off_t) = real("pwrite64");
    for (off_t at = range.from; at < range.to;) {
        size_t want = range.to - at < (off_t)sizeof bytes ? (size_t)(range.to - at) : sizeof bytes;
        ssize_t got = pread(from, bytes, want, at);
        if (got <= 0) return; /* it was cut off meanwhile */
        if (do_pwrite(to, bytes, got, at) != got) die("write");
        at += got;
    }
}

/* Puts what was written since the last time onto the disk. */
static void flush_file(int fd, const struct stat *facts) {
    struct tracked *file = of(facts->st_ino);
    char path[4096], self[64];
    snprintf(path, sizeof path, "%s/content-%lu", disk(), (unsigned long)facts->st_ino);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    int (*do_open)(const char *, int, ...) = real("open64");
    int (*do_truncate)(int, off_t) = real("ftruncate64");
    int from = do_open(self, O_RDONLY), to = do_open(path, O_RDWR | O_CREAT, 0600);
    if (from < 0 || to < 0) die("open");
    for (size_t at = 0; at < file->count; at++) copy_range(from, to, file->ranges[at]);
    file->count = 0;
    if (do_truncate(to, facts->st_size)) die("cut");
    close(from);
    close(to);
}

static void flush_names(void) {
    char part[4096], path[4096];
    snprintf(part, sizeof part, "%s/names.part", disk());
    snprintf(path, sizeof path, "%s/names", disk());
    FILE *out = fopen(part, "w");
    DIR *folder = opendir(root());
    if (!out || !folder) die("list");
    for (struct dirent *entry; (entry = readdir(folder));)
        if (!strncmp(entry->d_name, "ledger.db", 9)) fprintf(out, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
    closedir(folder);
    if (fclose(out) || rename(part, path)) die("list");
}

static void wrote(int fd, off_t from, off_t to) {
    struct stat facts;
    if (from >= to || !is_watched(fd, &facts)) return;
    struct tracked *file = of(facts.st_ino);
    struct range *last = file->count ? &file->ranges[file->count - 1] : NULL;
    if (last && from >= last->from && from <= last->to) {
        if (to > last->to) last->to = to;
        return;
    }
    if (file->count == RANGES) { /* one range is as good as many, only slower */
        file->count = 1;
        file->ranges[0] = (struct range){0, facts.st_size};
    }
    file->ranges[file->count++] = (struct range){from, to};
}

#define ENTER if (inside++ == 0) pthread_mutex_lock(&lock)
#define LEAVE if (--inside == 0) pthread_mutex_unlock(&lock)

/* Nobody waits here for a pipe or a connection of somebody else: only calls about the store's files are made under the lock. */
#define PWRITE(name)                                                                      \
    ssize_t name(int fd, const void *bytes, size_t count, off_t at) {                     \
        static ssize_t (*call)(int, const void *, size_t, off_t);                         \
        if (!call) call = real(#name);                                                    \
        struct stat facts;                                                                \
        if (inside || !is_watched(fd, &facts)) return call(fd, bytes, count, at);         \
        ENTER;                                                                            \
        ssize_t done = call(fd, bytes, count, at);                                        \
        int error = errno;                                                                \
        if (done > 0) wrote(fd, at, at + done);                                           \
        LEAVE;                                                                            \
        errno = error;                                                                    \
        return done;                                                                      \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

ssize_t write(int fd, const void *bytes, size_t count) {
    static ssize_t (*call)(int, const void *, size_t);
    if (!call) call = real("write");
    struct stat facts;
    if (inside || !is_watched(fd, &facts)) return call(fd, bytes, count);
    ENTER;
    ssize_t done = call(fd, bytes, count);
    int error = errno;
    off_t end = lseek(fd, 0, SEEK_CUR);
    if (done > 0) wrote(fd, end - done, end);
    LEAVE;
    errno = error;
    return done;
}

#define TRUNCATE(name)                                                                    \
    int name(int fd, off_t length) {                                                      \
        static int (*call)(int, off_t);                                                   \
        if (!call) call = real(#name);                                                    \
        struct stat before;                                                               \
        if (inside || !is_watched(fd, &before)) return call(fd, length);                  \
        ENTER;                                                                            \
        int done = call(fd, length);                                                      \
        int error = errno;                                                                \
        if (done == 0) wrote(fd, before.st_size, length);                                 \
        LEAVE;                                                                            \
        errno = error;                                                                    \
        return done;                                                                      \
    }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

/* Ways to write that the program does not use on these files. If it begins to, they must be followed here first. */
#define UNKNOWN_WAY(type, name, parameters, arguments)                                    \
    type name parameters {                                                                \
        static type(*call) parameters;                                                    \
        if (!call) call = real(#name);                                                    \
        struct stat facts;                                                                \
        if (is_watched(fd, &facts)) die("follow " #name);                                 \
        return call arguments;                                                            \
    }
UNKNOWN_WAY(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
UNKNOWN_WAY(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
UNKNOWN_WAY(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
UNKNOWN_WAY(int, fallocate, (int fd, int mode, off_t at, off_t count), (fd, mode, at, count))
UNKNOWN_WAY(int, fallocate64, (int fd, int mode, off_t at, off_t count), (fd, mode, at, count))
UNKNOWN_WAY(int, posix_fallocate, (int fd, off_t at, off_t count), (fd, at, count))
UNKNOWN_WAY(int, posix_fallocate64, (int fd, off_t at, off_t count), (fd, at, count))
UNKNOWN_WAY(int, sync_file_range, (int fd, off_t at, off_t count, unsigned flags), (fd, at, count, flags))

/* The real disk is not waited for. With $POWER_LIES nothing is: then acknowledged things must be lost, or the test sees
 * nothing at all. */
#define SYNC(name)                                                                        \
    int name(int fd) {                                                                    \
        struct stat facts;                                                                \
        if (getenv("POWER_LIES")) return 0;                                               \
        ENTER;                                                                            \
        if (is_watched(fd, &facts)) flush_file(fd, &facts);                               \
        else if (is_root(fd)) flush_names();                                              \
        LEAVE;                                                                            \
        return 0;                                                                         \
    }
SYNC(fsync)
SYNC(fdatasync)
