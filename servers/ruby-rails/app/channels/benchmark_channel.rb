# frozen_string_literal: true

# The Action Cable dialect of docs/protocol.md: actions `echo` and `broadcast`,
# and of a subscription with a topic `publish`.
class BenchmarkChannel < ApplicationCable::Channel
  # docs/protocol.md, Rooms.
  TOPIC = /\A[A-Za-z0-9._:-]{1,64}\z/.freeze

  # A request without a payload or a topic. All else that is wrong, Action Cable
  # itself finds, and writes to its log.
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

  # To the subscribers of the topic, in the same way.
  def publish(data)
    topic = params.fetch(:topic)
    ActionCable.server.broadcast("topic:#{topic}", answer('message', data))
    ActionCable.server.broadcast(own, answer('publishResult', data))
  end

  private

  # Private, for public methods are actions that a client can ask for.
  def subscribed
    topic = params[:topic]
    return reject unless topic.nil? || (topic.is_a?(String) && TOPIC.match?(topic))

    topic ? follow("topic:#{topic}") : stream_from('all')
    stream_from own
  end

  # Action Cable confirms no end of a subscription, so the channel does.
  def unsubscribed
    return unless params[:topic] && !subscription_rejected?

    stop_all_streams
    @left = true
    transmit({ action: 'unsubscribed' })
  end

  # To a client that has been told of its subscription, and until it leaves. The adapter's threads
  # may bring a message before the confirmation and after the end.
  def follow(stream)
    stream_from(stream, coder: ActiveSupport::JSON) do |message|
      transmit(message) if subscription_confirmation_sent? && !@left
    end
  end

  def own
    @own ||= "client:#{SecureRandom.uuid}"
  end

  def answer(action, data)
    { action: action, payload: data.fetch('payload') }
  end
end
