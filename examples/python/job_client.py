"""A small client of the job server, with nothing but Python's standard library.

Run it: python3 job_client.py http://127.0.0.1:8080 [KEY]
"""

import base64
import hashlib
import hmac
import json
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen


class JobError(Exception):
    """What the server refuses, or how a job ended without a result: `code` is stable."""

    def __init__(self, code, message, retry_after=None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.retry_after = retry_after


class JobClient:
    def __init__(self, address, key=None):
        self.address = address.rstrip("/")
        self.headers = {"authorization": f"Bearer {key}"} if key else {}

    def submit(self, type, arguments, **options):
        """Answers the job's uid once it is durable; options are those of POST /job/add."""
        for attempt in range(6):
            try:
                job = {"type": type, "arguments": arguments, **options}
                return self._call("POST", "/job/add", job)["uid"]
            except JobError as error:
                if error.retry_after is None or attempt == 5:
                    raise
                time.sleep(error.retry_after)

    def result(self, uid):
        """Waits for the end of a job, however long it takes."""
        while True:
            answer = self._call("GET", f"/job/result/{uid}?wait_seconds=30")
            if answer["status"] == "succeeded":
                return answer["data"]
            if answer["status"] not in ("queued", "running"):
                raise JobError(answer["status"], answer["error"])

    def cancel(self, uid):
        return self._call("DELETE", f"/job/{uid}")["cancelled"]

    def list(self, query=""):
        return self._call("GET", f"/job/list{query}")["jobs"]

    def callback_secret(self):
        return self._call("GET", "/job/callback-secret")["secret"]

    def events(self):
        """What happens to this submitter's jobs, from now on."""
        with urlopen(Request(f"{self.address}/job/events", headers=self.headers)) as answer:
            for line in answer:
                if line.startswith(b"data: "):
                    yield json.loads(line[len(b"data: ") :])

    def _call(self, method, path, body=None):
        headers = dict(self.headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["content-type"] = "application/json"
        request = Request(self.address + path, data=data, headers=headers, method=method)
        try:
            with urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except HTTPError as refused:
            try:
                error = json.load(refused)["error"]
            except (ValueError, KeyError):
                error = {"code": f"HTTP {refused.code}", "message": refused.reason}
            wait = refused.headers.get("retry-after")
            seconds = None if wait is None else float(wait)
            raise JobError(error["code"], error["message"], seconds) from None


def is_signed(headers, body, secret):
    """For the receiver of a callback: whether the server has sent this body, just now."""
    stamp = headers["webhook-timestamp"]
    if abs(time.time() - int(stamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    text = f"{headers['webhook-id']}.{stamp}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(wanted, one) for one in headers["webhook-signature"].split())


def main(address, key=None):
    client = JobClient(address, key)
    uid = client.submit("echo", {"hello": "world"}, idempotency_key="once")
    print("result", json.dumps(client.result(uid)))
    print("same job", client.submit("echo", {"hello": "world"}, idempotency_key="once") == uid)
    waiting = client.submit("sleep", {"ms": 600000})
    print("cancelled", client.cancel(waiting))
    try:
        client.submit("nothing", None)
    except JobError as error:
        print("refused", error.code)
    try:
        client.result(waiting)
    except JobError as error:
        print("ended", error.code)
    print("listed", sorted(job["status"] for job in client.list()))


if __name__ == "__main__":
    main(*sys.argv[1:])
