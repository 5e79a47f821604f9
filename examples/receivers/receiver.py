# A receiver of webhooks: it checks who sent them, and acts once on each event. Python 3.8 or later, no packages.
#   SVC_WEBHOOK_SECRET=<your signing secret> PORT=4242 python3 receiver.py
# It listens on this machine alone: put your web server, with TLS, in front of it.
import hashlib
import hmac
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["SVC_WEBHOOK_SECRET"].encode()
if not SECRET:
    sys.exit("SVC_WEBHOOK_SECRET is empty")
BODY_MAX = 1024 * 1024

# The events that were acted on, or are just now. A restart forgets them: in production the note and the act belong in
# one database transaction, the note into a table with a unique eventId, kept for 30 days or longer.
seen = set()
seen_lock = threading.Lock()


def act(event):
    print(event["eventType"], event["eventId"], flush=True)


def is_signed(body, headers):
    # The signature is made over the bytes as they arrived: a body that was parsed and written again has another one.
    # While a rotation's overlap lasts there are two, of the new secret and of the one before; either proves the sender.
    expected = hmac.new(SECRET, body, hashlib.sha256).hexdigest().encode()
    given = [headers.get(name, "") for name in ("X-Service-Signature", "X-Service-Signature-Previous")]
    return any([hmac.compare_digest(expected, each.encode("utf-8", "replace")) for each in given])


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            return self.answer(411)
        if int(length) > BODY_MAX:
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_signed(body, self.headers):
            return self.answer(401)
        event = json.loads(body)
        # The same event may come again: it is answered at once, and nothing is done twice.
        with seen_lock:
            is_new = event["eventId"] not in seen
            seen.add(event["eventId"])
        try:
            if is_new:
                act(event)
        except BaseException:
            # Forgotten and answered 500, it is sent again.
            with seen_lock:
                seen.discard(event["eventId"])
            self.answer(500)
            raise
        self.answer(200)

    def refuse(self):
        self.answer(405)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = refuse

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


port = int(os.environ.get("PORT") or 4242)
print(f"receiving webhooks on port {port}", file=sys.stderr, flush=True)
ThreadingHTTPServer.request_queue_size = 128
ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()
