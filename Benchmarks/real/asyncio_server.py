"""An asyncio server; what comes after `stall ` is how many seconds it blocks its own loop."""
import asyncio
import sys
import time


async def serve(reader, writer):
    while line := await reader.readline():
        if line.startswith(b'stall '):
            time.sleep(float(line.split()[1]))
        writer.write(line)
        await writer.drain()


async def main():
    server = await asyncio.start_server(serve, '127.0.0.1', int(sys.argv[1]))
    async with server:
        await server.serve_forever()

asyncio.run(main())
