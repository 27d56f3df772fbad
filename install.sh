#!/bin/sh
# Installs Agent Tracer: both programs of a release into one folder. Runs again to upgrade.
#
#   curl -fsSL …/latest/download/install.sh | sh
#   sh install.sh --from FOLDER       without a network: FOLDER holds the release's tarball and its SHA256SUMS
#   sh install.sh --uninstall
#
# Writes only into the folder of the programs. Nothing is replaced before the archive's sum is right and the new program
# has run; then both programs are replaced, or neither. A server that runs goes on with the old one until it is restarted.
set -eu

# `make dist` puts the address of the releases here.
releases_of_this_script=''

usage() {
  cat <<'USAGE'
usage: install.sh [--prefix DIR | --bin DIR] [--version X.Y.Z] [--from DIR] [--check | --uninstall]

  --prefix DIR      put the programs into DIR/bin (default: ~/.local)
  --bin DIR         put the programs into DIR itself
  --version X.Y.Z   install this version (default: the latest)
  --from DIR        take the tarball and SHA256SUMS from this folder (also $AGENT_TRACER_DIST)
  --check           print the name of the tarball for this machine, and install nothing
  --uninstall       remove the programs; recordings and settings stay

$AGENT_TRACER_RELEASES replaces the address of the releases.
USAGE
}

say() { printf '%s\n' "$*"; }

fail() { # MESSAGE [HINT]
  printf 'install.sh: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The name that releases have for this machine.
find_target() {
  system=$(uname -s) machine=$(uname -m)
  case $machine in
    x86_64 | amd64) processor=x86_64 ;;
    aarch64 | arm64) processor=aarch64 ;;
    *) fail "there is no build for the processor \`$machine\`" "build from source: see README.md" ;;
  esac
  case $system in
    Linux) printf '%s-unknown-linux-musl\n' "$processor" ;;
    Darwin)
      # A shell under Rosetta sees another processor than the machine has.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" != 1 ] || processor=aarch64
      printf '%s-apple-darwin\n' "$processor"
      ;;
    *) fail "there is no build for \`$system\`" "build from source: see README.md" ;;
  esac
}

# Writes the file NAME of the release to TO.
fetch() { # NAME TO
  if [ -n "$from" ]; then
    [ -f "$from/$1" ] || fail "\`$from/$1\` is missing" "put the release's tarball and its SHA256SUMS into one folder"
    cp "$from/$1" "$2"
    return
  fi
  if [ -n "$version" ]; then address=$releases/download/v$version/$1; else address=$releases/latest/download/$1; fi
  if has curl; then
    curl --fail --silent --show-error --location --retry 2 --output "$2" "$address"
  elif has wget; then
    wget -q -O "$2" "$address"
  else
    fail "neither \`curl\` nor \`wget\` is here" "install one of them, or download the release and use --from"
  fi || fail "cannot download \`$address\`" "try again, or download the release and use --from"
}

sum_of() {
  if has sha256sum; then
    sha256sum "$1"
  elif has shasum; then
    shasum -a 256 "$1"
  elif has openssl; then
    openssl dgst -sha256 -r "$1"
  else
    fail "no program for SHA-256 sums is here" "install \`sha256sum\`, \`shasum\` or \`openssl\`"
  fi | cut -d ' ' -f 1
}

# Prints agent and settings file of each connection that `agent-tracer install` has noted, a line each.
noted() {
  for data in "${AGENT_TRACER_HOME:-}" "${XDG_DATA_HOME:-$HOME/.local/share}/agent-tracer"; do
    [ -f "$data/install.json" ] || continue
    # Two fields of the same depth, one after the other.
    sed -n 's/^      "agent": "\(.*\)",$/\1/p; s/^      "file": "\(.*\)",$/\1/p' "$data/install.json" | paste - -
  done
}

# Agents call the hook by its path. Removing it under them would give them an error at every event. Accounts of an agent
# have homes beside the usual one, or wherever `install` noted them.
refuse_while_connected() {
  {
    for settings in "${CLAUDE_CONFIG_DIR:-$HOME/.claude}" "$HOME/.claude" "$HOME"/.claude[!a-zA-Z]*; do
      printf 'claude\t%s\n' "$settings/settings.json"
    done
    for settings in "${CODEX_HOME:-$HOME/.codex}" "$HOME/.codex" "$HOME"/.codex[!a-zA-Z]*; do
      printf 'codex\t%s\n' "$settings/hooks.json"
    done
    noted
  } | while IFS="$(printf '\t')" read -r agent settings; do
    grep -qF "$bin/agent-tracer-hook" "$settings" 2>/dev/null || continue
    home=${settings%/*} own=
    case $agent in claude) own=${CLAUDE_CONFIG_DIR:-$HOME/.claude} name=CLAUDE_CONFIG_DIR ;; *) own=${CODEX_HOME:-$HOME/.codex} name=CODEX_HOME ;; esac
    command="$bin/agent-tracer uninstall $agent"
    case $settings in
      "$own"/*) ;;
      */.claude/settings.local.json) command="cd '${home%/*}' && $command --scope local" ;;
      "$HOME"/.claude/* | "$HOME"/.codex/*) command="$name='$home' $command" ;;
      */.claude/settings.json | */.codex/hooks.json) command="cd '${home%/*}' && $command --scope project" ;;
      *) command="$name='$home' $command" ;;
    esac
    fail "\`$settings\` still calls \`$bin/agent-tracer-hook\`" "run \`$command\` first"
  done || exit 1
}

# The manager would start a program that is missing, again and again.
refuse_while_served() {
  for file in "${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/agent-tracer.service" "$HOME/Library/LaunchAgents/local.agent-tracer.plist"; do
    if grep -qF "$bin/agent-tracer" "$file" 2>/dev/null; then
      fail "the service \`$file\` still starts \`$bin/agent-tracer\`" "run \`$bin/agent-tracer service remove\` first"
    fi
  done
}

uninstall() {
  refuse_while_connected
  refuse_while_served
  if ! [ -e "$bin/agent-tracer" ] && ! [ -e "$bin/agent-tracer-hook" ]; then
    say "nothing to remove in $bin"
    return
  fi
  rm -f "$bin/agent-tracer" "$bin/agent-tracer-hook"
  say "removed agent-tracer and agent-tracer-hook from $bin"
  say "your recordings and settings are still in ~/.local/share/agent-tracer and ~/.config/agent-tracer"
}

# Puts both new programs in place of the old ones. If the second cannot be moved, the first goes back.
swap() { # FOLDER
  had=
  if [ -e "$bin/agent-tracer" ]; then
    ln "$bin/agent-tracer" "$work/before" 2>/dev/null || cp -p "$bin/agent-tracer" "$work/before"
    had=1
  fi
  # Between the two moves an end would leave programs of two versions.
  trap '' INT TERM HUP
  mv -f "$1/agent-tracer" "$bin/agent-tracer" || fail "cannot write \`$bin/agent-tracer\`"
  if ! mv -f "$1/agent-tracer-hook" "$bin/agent-tracer-hook"; then
    if [ -n "$had" ]; then mv -f "$work/before" "$bin/agent-tracer"; else rm -f "$bin/agent-tracer"; fi
    fail "cannot write \`$bin/agent-tracer-hook\`: nothing was changed"
  fi
}

# Sets `line` to the sum and the name of the tarball for this machine.
choose() { # SHA256SUMS
  if [ -n "$version" ]; then wanted="agent-tracer-$version-$target.tar.gz"; else wanted="agent-tracer-[0-9][^ /]*-$target\\.tar\\.gz"; fi
  line=$(grep -E "^[0-9a-f]{64}  $wanted\$" "$1" | tail -n 1)
  [ -n "$line" ] || fail "the release has no build for $target${version:+ of version $version}" "build from source: see README.md"
}

check() {
  target=$(find_target)
  work=$(mktemp -d) || fail "cannot make a temporary folder"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  fetch SHA256SUMS "$work/SHA256SUMS"
  choose "$work/SHA256SUMS"
  say "${line##* }"
}

install() {
  target=$(find_target)
  mkdir -p "$bin" || fail "cannot make \`$bin\`" "choose another folder with --prefix"
  # On the same disk as the programs, so that the last step is a rename.
  work=$(mktemp -d "$bin/.agent-tracer.XXXXXX") || fail "cannot write into \`$bin\`" "choose another folder with --prefix"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  fetch SHA256SUMS "$work/SHA256SUMS"
  choose "$work/SHA256SUMS"
  expected=${line%% *} archive=${line##* }
  say "getting $archive"
  fetch "$archive" "$work/archive.tar.gz"
  actual=$(sum_of "$work/archive.tar.gz")
  [ "$actual" = "$expected" ] || fail "\`$archive\` has a wrong sum: it is damaged, or not the one that was released" "try again; nothing was changed"
  mkdir "$work/unpacked"
  tar -xzf "$work/archive.tar.gz" -C "$work/unpacked" || fail "cannot unpack \`$archive\`"
  folder=$work/unpacked/${archive%.tar.gz}
  chmod 755 "$folder/agent-tracer" "$folder/agent-tracer-hook"
  # A program that does not run here must not take the place of one that does.
  reported=$("$folder/agent-tracer" --version) || fail "the new \`agent-tracer\` does not run on this machine; nothing was changed"
  "$folder/agent-tracer-hook" --version >/dev/null || fail "the new \`agent-tracer-hook\` does not run on this machine; nothing was changed"
  before=
  [ ! -x "$bin/agent-tracer" ] || before=$("$bin/agent-tracer" --version 2>/dev/null || true)
  swap "$folder"
  if [ -n "$before" ]; then
    say "replaced $before by $reported in $bin"
    say "a server that runs is still the old one: restart it when it suits you"
    return
  fi
  say "installed $reported in $bin"
  program="agent-tracer"
  case :$PATH: in
    *":$bin:"*) ;;
    *)
      program=$bin/agent-tracer
      say "$bin is not on your PATH; add it: export PATH=\"$bin:\$PATH\""
      ;;
  esac
  say "next: $program                  look at what is here, and choose the next step"
  say "      $program install claude   connect Claude Code (or: codex), then start a new session"
  say "      $program up               record, read your history, open the dashboard"
}

# In a function, so that a script that arrives only in part does nothing.
main() {
  prefix='' bin='' version='' from=${AGENT_TRACER_DIST:-} action=install
  releases=${AGENT_TRACER_RELEASES:-$releases_of_this_script}
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix | --bin | --version | --from)
        [ $# -ge 2 ] || fail "\`$1\` needs a value"
        case $1 in --prefix) prefix=$2 ;; --bin) bin=$2 ;; --version) version=${2#v} ;; --from) from=$2 ;; esac
        shift 2
        ;;
      --uninstall) action=uninstall && shift ;;
      --check) action=check && shift ;;
      --help | -h) usage && return ;;
      *) usage >&2 && fail "unknown option \`$1\`" ;;
    esac
  done
  if [ -z "$bin" ]; then bin=${prefix:-${HOME:?}/.local}/bin; fi
  case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
  case $version in *[!0-9A-Za-z.+-]*) fail "\`$version\` is no version" ;; esac
  if [ "$action" != uninstall ] && [ -z "$from$releases" ]; then
    fail "this copy of the script does not know where releases are" "use --from, or set AGENT_TRACER_RELEASES"
  fi
  releases=${releases%/}
  "$action"
}

main "$@"
