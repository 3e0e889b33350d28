# SPDX-License-Identifier: GPL-2.0
"""A disk with a volatile write cache, which a power cut loses in part.

QEMU gets it by the NBD protocol. A write is kept in memory until the guest flushes. A cut keeps
some of the blocks that were not flushed and loses the others, as disks do: a guest that omits a
flush, or orders its writes badly, loses data. A kill of QEMU alone would lose none, since the
host still has all that was written.
"""

import os
import random
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BLOCK = 4096
# The words of the protocol: greeting, options, requests and replies.
GREETING = struct.pack(">8s8sH", b"NBDMAGIC", b"IHAVEOPT", 3)
OPTION = struct.Struct(">8sII")
OPTION_REPLY = struct.Struct(">QIII")
OPTION_MAGIC = 0x3E889045565A9
GO, INFO, ACK, UNSUPPORTED = 7, 3, 1, 0x80000001
EXPORT = struct.Struct(">HQH")
# Has flags, takes flushes, and writes that are flushed themselves.
FEATURES = 1 | 4 | 8
REQUEST = struct.Struct(">IHHQQI")
REQUEST_MAGIC = 0x25609513
REPLY = struct.Struct(">IIQ")
REPLY_MAGIC = 0x67446698
READ, WRITE, DISCONNECT, FLUSH = range(4)
FUA = 1
EINVAL = 22


class Disk:
    """An image, and the blocks that were written to it but not flushed."""

    def __init__(self, image: Path) -> None:
        self._image = os.open(image, os.O_RDWR)
        self._size = os.fstat(self._image).st_size
        self._cached: dict[int, bytes] = {}

    @property
    def size(self) -> int:
        return self._size

    def close(self) -> None:
        os.close(self._image)

    def read(self, offset: int, length: int) -> bytes:
        data = bytearray(os.pread(self._image, length, offset))
        for block in range(offset // BLOCK, -(-(offset + length) // BLOCK)) if self._cached else ():
            if block in self._cached:
                start, end = max(offset, block * BLOCK), min(offset + length, (block + 1) * BLOCK)
                part = self._cached[block][start - block * BLOCK : end - block * BLOCK]
                data[start - offset : end - offset] = part
        return bytes(data)

    def write(self, offset: int, data: bytes) -> None:
        end = offset + len(data)
        first, last = offset // BLOCK, -(-end // BLOCK)
        before = self.read(first * BLOCK, offset - first * BLOCK) if offset % BLOCK else b""
        after = self.read(end, last * BLOCK - end) if end % BLOCK else b""
        whole = b"".join((before, data, after))
        for number in range(last - first):
            self._cached[first + number] = whole[number * BLOCK : (number + 1) * BLOCK]

    def flush(self) -> None:
        for block, data in self._cached.items():
            os.pwrite(self._image, data, block * BLOCK)
        self._cached.clear()

    def cut(self, chance: random.Random) -> int:
        """Lose half of the blocks that were not flushed; returns how many."""
        kept = {block: data for block, data in self._cached.items() if chance.random() < 0.5}
        lost = len(self._cached) - len(kept)
        self._cached = kept
        self.flush()
        return lost


@contextmanager
def served(disk: Disk, address: Path) -> Iterator[None]:
    """Serve the disk at a socket, to one client after the other."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        server = threading.Thread(target=_serve, args=(disk, listener), daemon=True)
        server.start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            server.join()
            address.unlink()


def _serve(disk: Disk, listener: socket.socket) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            try:
                _negotiate(disk, client)
                _transmit(disk, client)
            except ConnectionError:
                pass  # QEMU was killed.


def _negotiate(disk: Disk, client: socket.socket) -> None:
    client.sendall(GREETING)
    _receive(client, 4)
    while True:
        _, option, length = OPTION.unpack(_receive(client, OPTION.size))
        _receive(client, length)
        if option != GO:
            _answer(client, option, UNSUPPORTED)
            continue
        _answer(client, option, INFO, EXPORT.pack(0, disk.size, FEATURES))
        _answer(client, option, ACK)
        return


def _answer(client: socket.socket, option: int, kind: int, data: bytes = b"") -> None:
    client.sendall(OPTION_REPLY.pack(OPTION_MAGIC, option, kind, len(data)) + data)


def _transmit(disk: Disk, client: socket.socket) -> None:
    while True:
        magic, flags, kind, handle, offset, length = REQUEST.unpack(_receive(client, REQUEST.size))
        if magic != REQUEST_MAGIC:
            raise ConnectionError
        data, error = b"", 0
        if kind == READ:
            data = disk.read(offset, length)
        elif kind == WRITE:
            disk.write(offset, _receive(client, length))
            if flags & FUA:
                disk.flush()
        elif kind == FLUSH:
            disk.flush()
        elif kind == DISCONNECT:
            return
        else:
            error = EINVAL
        client.sendall(REPLY.pack(REPLY_MAGIC, error, handle) + data)


def _receive(client: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = client.recv(length - len(data))
        if not part:
            raise ConnectionError
        data += part
    return bytes(data)
