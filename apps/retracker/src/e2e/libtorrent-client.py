# A client of libtorrent: seeds or downloads one torrent until it is killed, and says when it has all.
# libtorrent-client.py TORRENT DIRECTORY ADDRESS:PORT
import sys
import time

import libtorrent

torrent, directory, interface = sys.argv[1:]
session = libtorrent.session(
    {
        "listen_interfaces": interface,
        "enable_dht": False,
        "enable_lsd": False,
        "enable_upnp": False,
        "enable_natpmp": False,
        "allow_multiple_connections_per_ip": True,
        # One tracker is announced to from each address that it listens on.
        "announce_to_all_trackers": True,
    }
)
handle = session.add_torrent(
    {"ti": libtorrent.torrent_info(torrent), "save_path": directory}
)
handle.unset_flags(libtorrent.torrent_flags.auto_managed)
handle.resume()
is_told = False
while True:
    if handle.status().is_seeding and not is_told:
        print("complete", flush=True)
        is_told = True
    time.sleep(0.1)
