"""Delays each packet that leaves this network namespace, and loses some: what `tc netem` does, for kernels without it.

usage: python3 slow_network.py MILLISECONDS PERCENT QUEUE; iptables sends the packets to that queue. Ends with SIGTERM.
"""

import heapq
import random
import select
import socket
import struct
import sys
import time

NETLINK_NETFILTER, QUEUE = 12, 3 << 8
PACKET, VERDICT, CONFIG = QUEUE, QUEUE | 1, QUEUE | 2
DROP, ACCEPT = 0, 1

delay, loss, number = int(sys.argv[1]) / 1000, float(sys.argv[2]) / 100, int(sys.argv[3])
netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
netlink.bind((0, 0))
netlink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
# Packets that find no room are lost, as in a network.
netlink.setsockopt(270, 5, 1)


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", len(value) + 4, kind) + value + bytes(-len(value) % 4)


def send(message: int, body: bytes) -> None:
    body = struct.pack("!BBH", 0, 0, number) + body
    netlink.send(struct.pack("=IHHII", len(body) + 16, message, 1, 0, 0) + body)


def packet_ids(data: bytes):
    while len(data) >= 16:
        size, message = struct.unpack_from("=IH", data)
        rest = data[20:size]
        while message == PACKET and len(rest) >= 4:
            length, kind = struct.unpack_from("=HH", rest)
            if kind == 1:
                yield struct.unpack_from("!I", rest, 4)[0]
            rest = rest[max(4, length + -length % 4) :]
        data = data[max(16, size + -size % 4) :]


send(CONFIG, attribute(1, struct.pack("!BBH", 1, 0, socket.AF_INET)))
send(CONFIG, attribute(2, struct.pack("!IB", 0, 1)))
send(CONFIG, attribute(3, struct.pack("!I", 65536)))
waiting: list[tuple[float, int, int]] = []
while True:
    pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
    if select.select([netlink], [], [], pause)[0]:
        for packet in packet_ids(netlink.recv(1 << 18)):
            heapq.heappush(waiting, (time.monotonic() + delay, packet, DROP if random.random() < loss else ACCEPT))
    while waiting and waiting[0][0] <= time.monotonic():
        _, packet, verdict = heapq.heappop(waiting)
        send(VERDICT, attribute(2, struct.pack("!II", verdict, packet)))
