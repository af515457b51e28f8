import { segment } from '../api/client.ts'

export const path = '/api/teams'
export const pathOfTeam = (name = '') => `${path}/${segment(name)}`
export const oneTeam = { '<team>': '' }
