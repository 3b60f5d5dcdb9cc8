"""A host in Python: spawns the engine, asks one question and prints the answer as it streams.

    python3 examples/chat.py "What is a pipe?"        # the embedded demo model
    SLUICE_CONFIG=config.yaml python3 examples/chat.py "What is a pipe?"
"""
import json
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
engine = os.environ.get("SLUICE_BINARY", os.path.join(here, "..", "bin", "sluice"))
command = [engine, "serve-stdio"] + ([] if "SLUICE_CONFIG" in os.environ else ["--demo"])
child_environment = {k: v for k, v in os.environ.items() if k != "SLUICE_BINARY"}
process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=child_environment)


def send(message):
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


send({"id": 1, "method": "initialize", "params": {"protocol_versions": [1]}})
send({"id": 2, "method": "chat", "params": {"input": sys.argv[1] if len(sys.argv) > 1 else "What is a pipe?"}})

status = 1
for line in process.stdout:  # one JSON object a line; the result or error of a request is its last
    message = json.loads(line)
    if message.get("event") == "llm_chunk":
        print(message["delta"], end="", flush=True)
    elif message["id"] == 2 and message["type"] == "result":
        print()
        print(message["result"]["events"], file=sys.stderr)
        status = 0
    elif message["type"] == "error":
        print(message["code"], message["message"], file=sys.stderr)
    if message["id"] == 2 and message["type"] != "event":
        process.stdin.close()  # end of input: the engine finishes, stops its server and exits 0
sys.exit(process.wait() or status)
