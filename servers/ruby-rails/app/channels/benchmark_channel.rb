# frozen_string_literal: true

# The Action Cable dialect of docs/protocol.md: actions `echo` and `broadcast`.
class BenchmarkChannel < ApplicationCable::Channel
  # A request without a payload. All else that is wrong, Action Cable itself
  # finds, and writes to its log.
  rescue_from(KeyError) { |error| transmit({ action: 'error', payload: error.message }) }

  # @param data [Hash] the action and its payload, as the client sent them
  def echo(data)
    transmit(answer('echo', data))
  end

  # The result takes the same way as the broadcast, behind it.
  def broadcast(data)
    ActionCable.server.broadcast('all', answer('broadcast', data))
    ActionCable.server.broadcast(own, answer('broadcastResult', data))
  end

  private

  # Private, for public methods are actions that a client can ask for.
  def subscribed
    stream_from 'all'
    stream_from own
  end

  def own
    @own ||= "client:#{SecureRandom.uuid}"
  end

  def answer(action, data)
    { action: action, payload: data.fetch('payload') }
  end
end
