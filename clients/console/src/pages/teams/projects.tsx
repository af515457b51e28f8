import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { TeamDetail, TeamProject } from '../../../../../schemas/teams.ts'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Empty, Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { list, pathOf, teamOfProject } from './paths.ts'
import { words } from './words.ts'

type Props = { team: TeamDetail; isOwner: boolean; mayBring: boolean }

export function Projects({ team: { name }, isOwner, mayBring }: Props) {
  const say = useWords(words)
  const projects = useQuery(reading<TeamProject[]>(`${pathOf(name)}/projects`, { limit: 500 }))
  const { act, error } = useAct()
  const give = async (project: string, team: string | null) => {
    await request('PUT', teamOfProject(project), { body: { team } })
    await reread(list)
  }
  return (
    <Panel title={say.projects}>
      <QueryTable
        of={projects}
        none={<Empty text={say.noProjects} />}
        caption={say.projects}
        keyOf={one => one.name}
        columns={[
          {
            key: 'project',
            title: say.project,
            cell: one => (
              <Link to="/projects/$name" params={{ name: one.name }}>
                {one.name}
              </Link>
            ),
          },
          { key: 'owner', title: say.ofPerson, cell: one => one.owner },
          {
            key: 'out',
            title: '',
            cell: one =>
              isOwner && (
                <Button
                  kind="quiet"
                  aria-label={say.takeOutOf(one.name)}
                  onClick={() => void act(() => give(one.name, null))}
                >
                  {say.takeOut}
                </Button>
              ),
          },
        ]}
      />
      <Failure error={error} />
      {mayBring && <Bring give={project => give(project, name)} />}
    </Panel>
  )
}

function Bring({ give }: { give: (project: string) => Promise<void> }) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(given => give(String(given.get('project')).trim()))
  return (
    <form className={styles.controls} onSubmit={onSubmit}>
      <TextField
        label={say.project}
        hint={say.bringHint}
        name="project"
        required
        maxLength={63}
        autoComplete="off"
        spellCheck={false}
      />
      <FormEnd error={error} isBusy={isBusy} text={say.bring} />
    </form>
  )
}
