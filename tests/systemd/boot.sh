#!/bin/bash
# Boots a throw-away machine over this one's own root: the stage that runs in namespaces of its own.
# Writes go to a tmpfs, and none of this machine's enabled units are there. Called by machine.py:
#   boot.sh FOLDER NAME COPIES ARGUMENT...     (COPIES: lines of SOURCE:TARGET; arguments for systemd-nspawn)
set -euo pipefail
folder=$1 name=$2 copies=$3
shift 3
mount -t tmpfs tmpfs "$folder"
cd "$folder"
mkdir up work root
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/up,workdir=$folder/work" root
rm -rf root/etc/systemd/system root/etc/.updated root/etc/muleteer root/var/lib/muleteer root/opt/muleteer
mkdir -p root/etc/systemd/system root/opt
ln -s /dev/null root/etc/systemd/system/getty.target
ln -sf /dev/null root/etc/tmpfiles.d/tmp.conf  # what is shown below /tmp stays
echo "$name" >root/etc/hostname
echo "127.0.1.1 $name" >>root/etc/hosts
tr -d - </proc/sys/kernel/random/uuid >root/etc/machine-id
while IFS=: read -r source target; do
    [ -n "$source" ] || continue
    if [ -d "$source" ]; then
        mkdir -p "root$target"
        cp -r "$source/." "root$target"
    else
        mkdir -p "root$(dirname "$target")"
        cp "$source" "root$target"
    fi
done <<<"$copies"
[ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ] || mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /run/systemd
mount -t tmpfs tmpfs /run/systemd  # systemd-nspawn keeps its own state there
rebooted=133  # systemd-nspawn's status, in a unit or cgroup that is not its own
status=$rebooted
while ((status == rebooted)); do
    status=0
    systemd-nspawn --quiet --directory=root --boot --register=no --keep-unit \
        --machine="$name" --hostname="$name" --link-journal=no --resolv-conf=off \
        --timezone=off --console=read-only --system-call-filter=bpf "$@" || status=$?
done
