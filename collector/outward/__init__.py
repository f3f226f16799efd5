"""What passhat tells others by itself: verdicts as OTLP events, and webhooks. Off until configured."""
