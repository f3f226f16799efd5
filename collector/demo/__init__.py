"""The demo: a lesson's runs through stock exporters and the whole collector, read back from the views."""
