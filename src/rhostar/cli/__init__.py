"""The command line, which calls the public functions. ``rhostar --help`` lists the commands."""
