# Runs every case of `$1/cases` in a folder of its own in memory, and says what became of its files. Everything else on
# this machine is read-only from here: a case that does more than it should does it to nothing.
set -u
work=$1
while read -r _ _ _ _ point _; do
    point=$(printf '%b' "$point")
    if ! mount -o remount,bind,ro "$point" 2>/dev/null; then
        options=$(awk -v point="$point" '$5 == point { options = $6 } END { print options }' /proc/self/mountinfo)
        case ",$options," in *,ro,*) ;; *)
            # What cannot be seen from here cannot be harmed either.
            if [ -e "$point" ] && [ -w "$point" ]; then
                echo "cannot make $point read-only" >&2
                exit 1
            fi ;;
        esac
    fi
done < /proc/self/mountinfo
mount -t tmpfs tmpfs "$work/box" || exit 1
if touch "$work/probe" 2>/dev/null || touch /probe-of-agent-tracer 2>/dev/null; then
    echo "something outside can still be written" >&2
    exit 1
fi
echo ready
export HOME="$work/box/home" TMPDIR="$work/box/tmp" GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
mkdir -p "$HOME" "$TMPDIR"
for case in "$work"/cases/*; do
    name=${case##*/}
    case $name in *.needs) continue ;; esac
    missing=
    while read -r program || [ -n "$program" ]; do
        [ -z "$program" ] || command -v "$program" > /dev/null || missing=yes
    done < "$case.needs"
    if [ -n "$missing" ]; then
        echo "$name absent"
        continue
    fi
    place="$work/box/run/$name"
    mkdir -p "$place/victim/deep"
    for file in victim/one.txt victim/deep/two.txt victim/deep/.three; do
        echo "content of $file" > "$place/$file"
    done
    (cd "$place" && exec timeout -k 1 20 bash -c "$(cat "$case")" < /dev/null > /dev/null 2>&1)
    outcome=deleted
    for file in victim/one.txt victim/deep/two.txt victim/deep/.three; do
        [ "$(cat "$place/$file" 2>/dev/null)" != "content of $file" ] || outcome=kept
    done
    echo "$name $outcome"
done
echo end
