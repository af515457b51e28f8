import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { recipe } from '../../../../../schemas/recipes.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { useChange } from './change.ts'
import { words } from './words.ts'

type Recipe = Static<typeof recipe>

export function Section() {
  const say = useWords(words)
  const recipes = useQuery(reading<Recipe[]>('/api/recipes'))
  const { send, error } = useChange('/api/recipes')
  const deprecate = ({ name, version, deprecated }: Recipe) =>
    send(
      'POST',
      `/api/admin/recipes/${encodeURIComponent(name)}/${encodeURIComponent(version)}/deprecate`,
      { deprecated: !deprecated },
    )
  return (
    <Panel title={say.recipes} actions={<Copyable text="forge admin recipe add ./my-recipe" />}>
      <Failure error={error} />
      <QueryTable
        of={recipes}
        caption={say.recipes}
        keyOf={one => `${one.name} ${one.version}`}
        columns={[
          {
            key: 'name',
            title: say.name,
            cell: one => (
              <>
                {one.name} {one.version}{' '}
                {one.deprecated && <Badge tone="warn">{say.deprecated}</Badge>}
              </>
            ),
          },
          { key: 'title', title: say.what, cell: one => one.title },
          { key: 'kind', title: say.kind, cell: one => one.kind },
          {
            key: 'act',
            title: '',
            cell: one => (
              <Button kind="quiet" onClick={() => void deprecate(one)}>
                {one.deprecated ? say.undeprecate : say.deprecate}
              </Button>
            ),
          },
        ]}
      />
    </Panel>
  )
}
