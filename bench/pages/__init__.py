"""The pages of docs/results, as data: one module each."""
from pages import apps, hosts, looking, mpi, mpix, node, ofi, scale, threads

ALL = {page.name: page for page in (node.PAGE, hosts.PAGE, threads.PAGE, mpi.PAGE, mpix.PAGE, looking.PAGE, ofi.PAGE, scale.PAGE, apps.PAGE)}
CLUSTER = hosts.CLUSTER
