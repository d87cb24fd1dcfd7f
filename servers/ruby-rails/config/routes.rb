# frozen_string_literal: true

# Action Cable mounts its own server on /cable.
Rails.application.routes.draw do
  mount RawEchoConnection.server => '/raw'
end
