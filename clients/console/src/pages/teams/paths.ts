export const list = '/api/teams'
export const pathOf = (name: string): string => `${list}/${encodeURIComponent(name)}`
export const memberAt = (team: string, username: string): string =>
  `${pathOf(team)}/members/${encodeURIComponent(username)}`
export const groupAt = (team: string, group: string): string =>
  `${pathOf(team)}/groups/${encodeURIComponent(group)}`
export const teamOfProject = (project: string): string =>
  `/api/projects/${encodeURIComponent(project)}/team`
