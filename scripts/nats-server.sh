#!/bin/sh
# Prints the path of a nats-server of the given version. It is taken from a newer suite of Debian and
# unpacked into a cache; nothing is installed, and the sources of this machine's apt stay as they are.
#
#   scripts/nats-server.sh 2.15.1
#
# SLUICE_NATS_CACHE names the cache. Tests and benchmarks call this script.
set -eu
version=$1
home=${XDG_CACHE_HOME:-$HOME/.cache}
# Servers of the benchmark run as a user that may not read the home of root.
[ "$(id -u)" -ne 0 ] || home=/var/tmp
cache=${SLUICE_NATS_CACHE:-$home/sluice-nats}
program=$cache/$version/usr/sbin/nats-server
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if [ ! -x "$program" ]; then
  apt=$cache/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
  # The mirror that this machine uses already.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | head -n 1)
  if [ -z "$mirror" ]; then
    echo "no Debian mirror in this machine's apt sources: add one, run apt-get update" >&2
    exit 1
  fi
  for suite in bookworm trixie testing sid; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
      "$mirror $suite main"
  done >"$apt/sources.list"
  set -- -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root
  apt-get "$@" -qq update >&2
  full=$(apt-cache "$@" madison nats-server | awk -v v="$version-" 'index($3, v) == 1 { print $3; exit }')
  if [ -z "$full" ]; then
    echo "Debian has no nats-server $version any more; it has:" >&2
    apt-cache "$@" madison nats-server >&2
    exit 1
  fi
  (cd "$apt/debs" && rm -f ./*.deb && apt-get "$@" -qq download "nats-server=$full" >&2)
  rm -rf "$cache/$version.partial"
  dpkg-deb -x "$apt"/debs/*.deb "$cache/$version.partial"
  rm -rf "${cache:?}/$version"
  mv "$cache/$version.partial" "$cache/$version"
fi
echo "$program"
