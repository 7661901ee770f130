"""What a study beyond one sitting or one machine needs: plans, run logs, shards, other engines, large stores."""
