# A shop that takes payments: it makes one for an order, sends the payer to the bank, and says how it ended. Python 3.8 or
# later, no packages. README.md shows how to start it. What has to be right about webhooks is in receiver.py.
import html
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SVC_URL = os.environ.get("SVC_URL") or "http://127.0.0.1:8080"
CLIENT_ID = os.environ["SVC_CLIENT_ID"]
PORT = int(os.environ.get("SHOP_PORT") or 4000)
SHOP_URL = os.environ.get("SHOP_URL") or f"http://localhost:{PORT}"

# The price is the server's: nothing of it comes from the browser.
ORDER = {"amount": "12.50", "currency": "GBP", "remittance_reference": "MARMALADE 1"}

# What a real shop has in its database: the payment of each order.
payments = {}

token = {"text": "", "until": 0.0}
token_lock = threading.Lock()


def call(url, headers=None, data=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers or {}), timeout=15) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{url} answered {error.code}") from None


# Proves the shop: a token of its client, kept until shortly before it expires. A sandbox without an identity provider
# takes the client's name alone.
def credentials():
    auth_url = call(f"{SVC_URL}/api/v1/service")["auth_url"]
    if auth_url is None:
        return {"X-Merchant-Client-Id": CLIENT_ID}
    with token_lock:
        if time.time() > token["until"]:
            form = {
                "grant_type": "client_credentials",
                "client_id": CLIENT_ID,
                "client_secret": os.environ["SVC_CLIENT_SECRET"],
            }
            url = f"{auth_url}/realms/{os.environ['SVC_REALM']}/protocol/openid-connect/token"
            answer = call(url, data=urllib.parse.urlencode(form).encode())
            token.update(text=answer["access_token"], until=time.time() + answer["expires_in"] - 30)
        return {"Authorization": f"Bearer {token['text']}"}


# The order's number is the idempotency key: whatever is repeated, the order is paid once.
def pay(number):
    headers = {**credentials(), "Content-Type": "application/json", "X-Idempotency-Key": number}
    body = {**ORDER, "redirect_uri": f"{SHOP_URL}/orders/{number}"}
    payment = call(f"{SVC_URL}/api/v1/payments", headers, json.dumps(body).encode())
    payments[number] = payment["payment_id"]
    return payment["redirect_url"]


# What the bank sent the payer back with ends the authorisation. A second time, as with a page that is loaded again, it is
# refused, and nothing is lost by that.
def complete(payment_id, query):
    body = {name: query[name][0] for name in ("state", "code", "error") if name in query}
    url = f"{SVC_URL}/api/v1/payments/{payment_id}/sca-complete"
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=15).close()
    except urllib.error.HTTPError as error:
        if error.code >= 500:
            raise


def page(content):
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The corner shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><h1>The corner shop</h1>{content}</body></html>"""


SHOP = page('<p>One jar of marmalade, 12.50 GBP</p><form method="post" action="/pay"><button>Pay by bank</button></form>')
SORRY = page("<p>Paying does not work just now. Please try again.</p>")


class Shop(BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self):
        path, query = urllib.parse.urlsplit(self.path)[2:4]
        query = urllib.parse.parse_qs(query)
        payment_id = payments.get(path[len("/orders/") :])
        if path == "/":
            return self.answer(200, SHOP)
        if payment_id is None:
            return self.answer(404, page("<p>There is no such page.</p>"))
        try:
            if "state" in query:
                complete(payment_id, query)
                return self.answer(303, "", path)
            # A payer who comes back may have paid or not: ask the service, and never trust the address.
            status = call(f"{SVC_URL}/api/v1/payments/{payment_id}", credentials())["status"]
        except Exception as error:
            return self.sorry(error)
        self.answer(200, page(f"<p>Your payment: {html.escape(status)}</p>"))

    def do_POST(self):
        if self.path != "/pay":
            return self.answer(404, page("<p>There is no such page.</p>"))
        try:
            location = pay(str(uuid.uuid4()))
        except Exception as error:
            return self.sorry(error)
        self.answer(303, "", location)

    def sorry(self, error):
        print(error, file=sys.stderr, flush=True)
        self.answer(502, SORRY)

    def answer(self, status, body, location=None):
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
        self.send_header("Content-Length", str(len(body.encode())))
        if location is not None:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body.encode())


# However the shop is ended, the receiver ends with it.
def stop(number, _frame):
    sys.exit(128 + number)


for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), stop)

receiver = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "receiver.py")])
try:
    print(f"the shop is at {SHOP_URL}", file=sys.stderr, flush=True)
    ThreadingHTTPServer(("127.0.0.1", PORT), Shop).serve_forever()
finally:
    receiver.terminate()
