import type { Api } from '../../api/client.ts'

const project = 'vision'

/** A team that owns one of the projects, with a pool. */
export async function sendTeams(root: Api, projects: ReadonlySet<string>): Promise<void> {
  if (!projects.has(project)) return
  const name = 'vision-lab'
  const description = 'Trains the models that read pictures'
  await root.post('/api/teams', { name, description }, { creates: true })
  await root.patch(`/api/teams/${name}`, {
    pool: { max_concurrent_gpus: 16, max_concurrent_jobs: null, daily_gpu_hours: 200 },
  })
  for (const [username, role] of Object.entries({ ada: 'owner', grace: 'member' }))
    await root.put(`/api/teams/${name}/members/${username}`, { role })
  await root.put(`/api/projects/${project}/team`, { team: name })
}
