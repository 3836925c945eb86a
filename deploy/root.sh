#!/bin/sh
# Puts an executable and the libraries that it needs into a folder, as the root of an image.
#
#   deploy/root.sh dist/sluice dist/image

set -eu

if [ $# -ne 2 ] || [ ! -x "$1" ] || [ -f "$2" ]; then
  echo "usage: deploy/root.sh EXECUTABLE FOLDER (the folder is emptied first)" >&2
  exit 2
fi
program=$1
image=$2

rm -rf "$image"
mkdir -p "$image/root" "$image/data"
cp "$program" "$image/root/sluice"
# Lines such as "libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x...)", and the loader's own path.
for library in $(ldd "$program" | grep -o '/[^ ]*'); do
  mkdir -p "$image/root$(dirname "$library")"
  cp -L "$library" "$image/root$library"
done
