# frozen_string_literal: true

require_relative 'application'

Rails.application.initialize!

# JRuby waits for its threads at exit, and cannot end one that is in a select of
# nio4r.
at_exit do
  [ActionCable.server, RawEchoConnection.server].each { |server| server.event_loop.stop }
end
