import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'

type Letter = {
  letter_id: string
  topic: string
  key: string
  error: string
  bytes: number
}
type Detail = Letter & Record<string, string | number | null>

type LetterFilters = CommonOptions & Texts<'topic' | 'run' | 'limit'>

const path = '/api/admin/dead-letters'

export const describeDeadLetterList = describe({
  text: 'reports that were acknowledged and could not be applied',
  options: {
    '--topic <topic>': 'only those of this topic',
    '--run <run>': 'only those of this run',
    '--limit <n>': 'at most this many',
  },
})

export const deadLetterList = list<Letter, LetterFilters>({
  path,
  filters: ({ topic, run: run_id, limit }) => ({ topic, run_id, limit }),
  shown: {
    columns: [
      { title: 'LETTER', cell: row => row.letter_id },
      { title: 'RUN', cell: row => row.key, shrinks: true },
      { title: 'BYTES', cell: row => String(row.bytes), align: 'right' },
      { title: 'ERROR', cell: row => row.error, shrinks: true },
    ],
  },
})

const oneLetter = { '<letter>': '' }
const letterAt = (id: string) => `${path}/${segment(id)}`

export const describeDeadLetterShow = describe({
  text: 'show where such a report came from',
  operands: oneLetter,
})

export const deadLetterShow = request<Detail>({
  send: ({ api }, _, id) => api.get<Detail>(letterAt(id)),
  data: letter =>
    Object.entries(letter)
      .filter(([name, value]) => name !== 'value' && value !== null)
      .map(([name, value]) => `${name}: ${value}`),
})

export const describeDeadLetterReplay = describe({
  text: 'apply it after all, e.g. after an upgrade',
  operands: oneLetter,
})

export const deadLetterReplay = request<Letter>({
  send: ({ api }, _, id) => api.post<Letter>(`${letterAt(id)}/replay`, undefined),
  note: ({ letter_id }) => `Applied ${letter_id}`,
})

export const describeDeadLetterDrop = describe({
  text: 'drop it: its contents are lost',
  operands: oneLetter,
})

export const deadLetterDrop = request<Letter>({
  send: ({ api }, _, id) => api.delete<Letter>(letterAt(id)),
  note: ({ letter_id }) => `Dropped ${letter_id}`,
})
