import type { Slice } from '../slice.ts'

export const followers: Slice = {
  name: 'followers',
  kind: null,
  tables: ['write.follower', 'write.follower_dead_letter', 'write.follower_effect'],
}
