import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'

type Duty = {
  duty_id: string
  reactor: string
  state: string
  cause: string
  due_at: string
  attempts: number
  last_error: string | null
}

type DutyFilters = CommonOptions & Texts<'state' | 'reactor' | 'limit'>

const path = '/api/admin/duties'

export const describeDutyList = describe({
  text: 'the duties still to perform, the next due first',
  options: {
    '--state <state>': 'only waiting, due, leased, parked, done or dropped ones',
    '--reactor <name>': 'only those of this reactor',
    '--limit <n>': 'at most this many',
  },
})

export const dutyList = list<Duty, DutyFilters>({
  path,
  filters: ({ state, reactor, limit }) => ({ state, reactor, limit }),
  shown: {
    columns: [
      { title: 'DUTY', cell: row => row.duty_id },
      { title: 'REACTOR', cell: row => row.reactor, shrinks: true },
      { title: 'STATE', cell: row => row.state },
      { title: 'ATTEMPTS', cell: row => String(row.attempts), align: 'right' },
      { title: 'DUE', cell: row => row.due_at },
      { title: 'CAUSE', cell: row => row.cause, shrinks: true, drops: true },
      { title: 'ERROR', cell: row => row.last_error ?? '', shrinks: true },
    ],
  },
})

const oneDuty = { '<duty>': '' }
const dutyAt = (id: string) => `${path}/${segment(id)}`

export const describeDutyRetry = describe({
  text: 'retry a duty at once, with a fresh number of attempts',
  operands: oneDuty,
})

export const dutyRetry = request<Duty>({
  send: ({ api }, _, id) => api.post<Duty>(`${dutyAt(id)}/retry`, undefined),
  note: ({ duty_id, reactor }) => `${reactor} will retry ${duty_id}`,
})

export const describeDutyDrop = describe({
  text: 'drop a duty permanently: it is never performed',
  operands: oneDuty,
})

export const dutyDrop = request<Duty>({
  send: ({ api }, _, id) => api.delete<Duty>(dutyAt(id)),
  note: ({ duty_id, reactor }) => `Dropped ${duty_id} of ${reactor}`,
})
