import { describe } from '../program/describe.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'

type CorrectOptions = CommonOptions & Texts<'cost' | 'reason'>

export const describeCorrect = describe({
  text: 'correct an entry of a bill by a further one',
  operands: { '<entry>': 'its id, from forge bill --format csv' },
  options: {
    '--cost <amount>': { text: 'added to the bill, e.g. -1.25', isRequired: true },
    '--reason <text>': { text: 'shown with the entry', isRequired: true },
  },
})

export const correct = request<{ entry_id: string }, CorrectOptions>({
  send: ({ api }, { cost, reason }, entry_id) =>
    api.post('/api/billing/corrections', { entry_id, cost, reason }, { creates: true }),
  data: ({ entry_id }) => entry_id,
  note: () => ['The correction is part of the bill'],
})
