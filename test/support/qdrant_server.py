"""A server on loopback with the part of Qdrant's REST API that the service uses. Requests are checked by the models
of Qdrant's own Python client, and its in-memory mode keeps and searches the points. Arguments: the API key. Prints
the port."""

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from qdrant_client.http import models
from qdrant_client.local.qdrant_local import QdrantLocal

api_key = sys.argv[1]
store = QdrantLocal(":memory:")
lock = threading.Lock()
sizes = {}
indexes = {}


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def exists(name, _body):
    return {"exists": name in sizes}


def create(name, body):
    if name in sizes:
        raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
    wanted = models.CreateCollection.model_validate(body)
    store.create_collection(name, vectors_config=wanted.vectors)
    sizes[name] = wanted.vectors.size
    indexes[name] = set()
    return True


def index(name, body):
    wanted = models.CreateFieldIndex.model_validate(body)
    indexes[name].add(wanted.field_name)
    return {"operation_id": 0, "status": "completed"}


def upsert(name, body):
    points = models.PointsList.model_validate(body).points
    for point in points:
        if len(point.vector) != sizes[name]:
            expected = f"expected dim: {sizes[name]}, got {len(point.vector)}"
            raise Refused(400, f"Wrong input: Vector dimension error: {expected}")
    store.upsert(name, points)
    return {"operation_id": 0, "status": "completed"}


def query(name, body):
    wanted = models.QueryRequest.model_validate(body)
    return store.query_points(
        name, query=wanted.query, query_filter=wanted.filter, limit=wanted.limit, with_payload=wanted.with_payload
    ).model_dump(mode="json")


def count(name, body):
    wanted = models.CountRequest.model_validate(body)
    return store.count(name, count_filter=wanted.filter, exact=wanted.exact).model_dump(mode="json")


def delete(name, body):
    wanted = models.FilterSelector.model_validate(body)
    store.delete(name, points_selector=wanted)
    return {"operation_id": 0, "status": "completed"}


def facet(name, body):
    wanted = models.FacetRequest.model_validate(body)
    if wanted.key not in indexes[name]:
        raise Refused(400, f"Bad request: Index required but not found for \"{wanted.key}\"")
    return store.facet(
        name, key=wanted.key, facet_filter=wanted.filter, limit=wanted.limit, exact=wanted.exact
    ).model_dump(mode="json")


routes = {
    ("GET", "/exists"): exists,
    ("PUT", ""): create,
    ("PUT", "/index"): index,
    ("PUT", "/points"): upsert,
    ("POST", "/points/query"): query,
    ("POST", "/points/count"): count,
    ("POST", "/points/delete"): delete,
    ("POST", "/facet"): facet,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            self.reply(200, {"result": self.result(body), "status": "ok", "time": 0})
        except Refused as refused:
            self.reply(refused.status, {"status": {"error": str(refused)}, "time": 0})
        except ValueError as error:
            self.reply(400, {"status": {"error": f"Format error in JSON body: {error}"}, "time": 0})

    def result(self, body):
        if self.headers.get("api-key") != api_key:
            raise Refused(401, "Must provide an API key or an Authorization bearer token")
        match = re.fullmatch(r"/collections/([^/]+)(/.*)?", urlsplit(self.path).path)
        work = match and routes.get((self.command, match[2] or ""))
        if not work:
            raise Refused(404, f"no such path: {self.command} {self.path}")
        name = unquote(match[1])
        if name not in sizes and work not in (exists, create):
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        with lock:
            return work(name, json.loads(body) if body else None)

    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = answer

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
# Ends with the process that started it.
threading.Thread(target=lambda: (sys.stdin.read(), server.shutdown())).start()
server.serve_forever()
