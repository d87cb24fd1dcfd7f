# frozen_string_literal: true

# Read by `puma` and by `rails server`; both take host and port from their flags.

soft, hard = Process.getrlimit(:NOFILE)
Process.setrlimit(:NOFILE, hard) if soft < hard
