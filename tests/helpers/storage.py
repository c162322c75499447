"""A local object store, moto's, with a bucket in it: what AWS_ENDPOINT_URL and its like have to say to reach it."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

BUCKET = "runs"


@contextmanager
def stored() -> Iterator[Mapping[str, str]]:
    import botocore.session
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it would tell of each request
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        env = {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "none",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        client = botocore.session.get_session().create_client(
            "s3",
            endpoint_url=env["AWS_ENDPOINT_URL"],
            aws_access_key_id="nobody",
            aws_secret_access_key="none",
            region_name="us-east-1",
        )
        client.create_bucket(Bucket=BUCKET)
        yield env
    finally:
        server.stop()
