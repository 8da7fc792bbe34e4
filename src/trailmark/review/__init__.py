"""What a person says of pages that were found: questions, answers that become trails, and what they change."""
