"""A bare grpc.aio + uvloop echo: what an answer costs when nothing is decided. Prints its port, then serves."""

import asyncio
import sys
from pathlib import Path

import grpc
import uvloop


async def main(socket_path: str) -> None:
    """Echo bytes until killed."""

    async def echo(data: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        del context
        return data

    server = grpc.aio.server()
    handler = {"Call": grpc.unary_unary_rpc_method_handler(echo)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("bench.Echo", handler),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.add_insecure_port(f"unix:{socket_path}")
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await server.wait_for_termination()


if __name__ == "__main__":
    Path(sys.argv[1]).unlink(missing_ok=True)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(sys.argv[1]))
