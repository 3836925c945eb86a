"""Adds three jobs, takes them, acks two and fails one until it comes again: python3 mail.py URL"""

import json
import sys

from sluice_client import Client, SluiceError

url = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:7070"
key = sys.argv[2] if len(sys.argv) > 2 else None
client = Client(url, api_key=key)
client.call("setQueue", "mail", {"retry": {"min": 0, "max": 0, "jitter": 0}})

ids = client.add(
    "mail",
    [
        {"payload": b'{"to":"a@b.c"}', "fairnessKey": "acme", "headers": {"kind": "welcome"}},
        {"payload": b'{"to":"d@e.f"}', "fairnessKey": ["acme", "user-7"]},
        {"payload": b'{"to":"fails once"}'},
    ],
)
print("added", len(ids))

consumer = client.consume("mail", credits=2)
done = 0
while done < 3:
    job = client.next_job()
    to = json.loads(job.payload)["to"]
    if to == "fails once" and job.attempt == 0:
        client.nack(job.lease, "not yet", delay_ms=0)
        print("nacked", to)
    else:
        assert client.ack([job.lease]) == [None]
        print("acked", to, "attempt", job.attempt, json.dumps(job.headers))
        (again,) = client.ack([job.lease])
        assert again.code == "ALREADY_FINISHED", again
        done += 1
    client.add_credits(consumer, 1)

(refused,) = client.ack(["nonsense"])
print("refused", refused.code)
try:
    client.add("nowhere", [{"payload": b""}])
except SluiceError as error:
    print("refused", error.code)
print("finished", client.call("queue", "mail")["stats"]["finished"])
client.close()
