# frozen_string_literal: true

# A Rails application of Action Cable alone: no database, no views, no sessions.

require_relative 'boot'

require 'rails'
require 'action_cable/engine'

module ActionCableServer
  class Application < Rails::Application
    config.load_defaults 6.1
    config.eager_load = true
    config.logger = ActiveSupport::Logger.new(IO::NULL)
    config.log_level = :fatal
    config.public_file_server.enabled = false

    # One worker, for order: with Action Cable's four, the actions of one client
    # overtake one another, and so do the broadcasts on their way to it. JRuby's
    # threads run at the same time, and one worker would leave it one of them.
    config.action_cable.worker_pool_size = 1 unless RUBY_ENGINE == 'jruby'

    # Any web page may connect, as there is nothing here that a page could steal:
    # a measuring host has any name and any port. So may a client without an
    # Origin (nil), which is no browser. Others (`null`, `file://`) get 404.
    config.action_cable.allowed_request_origins = [nil, %r{\Ahttps?://[^/]+/?\z}]
  end
end
