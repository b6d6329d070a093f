"""`python -m shoal`: the same as the command `shoal`."""

from shoal.cli.supervisor import main

main()
