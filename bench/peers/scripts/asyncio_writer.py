"""The peer on asyncio: NDJSON v1's own design, with nothing but the standard library.

    asyncio_writer.py queue|thread URL

Events go through a bounded asyncio.Queue in FIFO order to a background writer task, which flushes once
per drained batch. When the queue is full, events are dropped; results wait for room. With "queue" the
writer writes in the event loop, with "thread" in a worker thread. It answers the requests on stdin one
after another. The writer task ends with the last request, behind everything that waits.
"""

import asyncio
import json
import sys
from urllib.parse import urlsplit

QUEUE_EVENTS = 1024


def write(lines):
    sys.stdout.write("".join(lines))
    sys.stdout.flush()


async def write_batches(queue, in_thread):
    while True:
        batch = [await queue.get()]
        while not queue.empty():
            batch.append(queue.get_nowait())
        open_ended = batch[-1] is not None
        lines = batch if open_ended else batch[:-1]
        if in_thread:
            await asyncio.to_thread(write, lines)
        else:
            write(lines)
        if not open_ended:
            return


async def read_frames(url, text):
    """Yields the data of each frame of the answer."""
    target = urlsplit(url)
    reader, writer = await asyncio.open_connection(target.hostname, target.port)
    body = json.dumps({"messages": [{"role": "user", "content": text}], "model": "default", "stream": True}).encode()
    head = f"POST {target.path} HTTP/1.1\r\nHost: {target.netloc}\r\nConnection: close\r\n" \
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    try:
        header = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in header.split(b"\r\n", 1)[0]:
            raise RuntimeError(f"the server answered {header!r}")
        rest = b""
        while size := int(await reader.readline(), 16):
            rest += (await reader.readexactly(size + 2))[:-2]
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.startswith(b"data: "):
                    yield line[6:]
    finally:
        writer.close()


async def answer(queue, url, request):
    request_id = request["id"]
    async for data in read_frames(url, request["params"]["input"]):
        if data == b"[DONE]":
            break
        choices = json.loads(data)["choices"]
        text = choices[0]["delta"].get("content") if choices else None
        if text is None:
            continue
        event = {"id": request_id, "type": "event", "event": "llm_chunk", "step": 0, "delta": text}
        try:
            queue.put_nowait(json.dumps(event) + "\n")
        except asyncio.QueueFull:
            pass  # best effort, so that a slow reader never blocks the stream
    result = {"id": request_id, "type": "result", "result": {"finish_reason": "stop"}}
    await queue.put(json.dumps(result) + "\n")


async def main(mode, url):
    requests = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(requests), sys.stdin)
    queue = asyncio.Queue(maxsize=QUEUE_EVENTS)
    writing = asyncio.create_task(write_batches(queue, mode == "thread"))
    while line := await requests.readline():
        await answer(queue, url, json.loads(line))
    await queue.put(None)
    await writing


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("queue", "thread"):
        sys.exit("usage: asyncio_writer.py queue|thread URL")
    asyncio.run(main(sys.argv[1], sys.argv[2]))
