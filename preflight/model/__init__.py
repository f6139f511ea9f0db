"""What a model is: geometry, weight components, and arithmetic on both."""
