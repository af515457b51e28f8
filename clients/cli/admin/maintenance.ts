import { describe } from '../program/describe.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'

type Maintenance = {
  enabled: boolean
  message: string | null
  changed_at: string | null
  changed_by: string | null
}

type OnOptions = CommonOptions & Texts<'message'>

const path = '/api/admin/maintenance'

export const describeMaintenanceOn = describe({
  text: 'return 503 for everything except version, health, sign-in by password and this switch',
  options: {
    '-m, --message <text>': 'shown to everybody who gets the 503',
  },
})

export const maintenanceOn = request<Maintenance, OnOptions>({
  send: ({ api }, { message }) =>
    api.put<Maintenance>(path, { enabled: true, ...(message !== undefined && { message }) }),
  data: stateText,
})

export const describeMaintenanceOff = describe({ text: 'switch maintenance off' })

export const maintenanceOff = request<Maintenance>({
  send: ({ api }) => api.put<Maintenance>(path, { enabled: false }),
  data: stateText,
})

export const describeMaintenanceStatus = describe({
  text: 'whether maintenance is on, and who switched it on',
})

export const maintenanceStatus = request<Maintenance>({
  send: ({ api }) => api.get<Maintenance>(path),
  data: stateText,
})

function stateText({ enabled, message, changed_at, changed_by }: Maintenance): string {
  const since = changed_at === null ? '' : ` since ${changed_at}, by ${changed_by}`
  return enabled ? `in maintenance${since}: ${message}` : `serving${since}`
}
