"""A store behind TLS, as hosted ones are: an authority of our own signs what it says it is."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import trustme

from tests.lines import dialled, listening


@contextlib.asynccontextmanager
async def encrypted(url: str, folder: Path, *, name: str = "127.0.0.1") -> AsyncIterator[str]:
    """The `rediss://` address of a store for the block; `name` is what its certificate says.

    The authority's certificate is `ca.pem` in the folder; nobody knows it.
    """
    target = urlsplit(url).port
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with dialled("127.0.0.1", target) as (there, back):
            await asyncio.gather(_pipe(reader, back), _pipe(there, writer))

    async with listening(serve, ssl=context) as port:
        yield f"rediss://127.0.0.1:{port}/0"


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Hand on what is said until one side has nothing more to say."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
