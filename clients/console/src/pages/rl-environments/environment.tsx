import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { More } from '../../design/more.tsx'
import { Failure } from '../../design/notice.tsx'
import { VersionTable } from '../../design/version-table.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { usePages } from '../../session/use-pages.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { bytesOf, shortNumber } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import { type Environment, pathOf, type Version } from './paths.ts'
import { ShownVersion } from './version.tsx'
import { words } from './words.ts'

/** An RL environment, and its newest version or the one in the address. */
export function Page() {
  const { owner = '', name = '' } = useParams({ strict: false })
  const found = useQuery(reading<Environment>(pathOf({ owner, name })))
  return <ShownPage of={found}>{one => <Found environment={one} />}</ShownPage>
}

function Found({ environment }: { environment: Environment }) {
  const say = useWords(words)
  const { owner, name, visibility } = environment
  const { version: asked } = useSearch({ strict: false })
  const versions = usePages<Version>(`${pathOf(environment)}/versions`, {
    size: 50,
    keyOf: one => one.version,
    isUnderWay: ({ state }) => state === 'building',
  })
  const shown = asked ?? versions.data?.[0]?.version
  return (
    <div className={layout.sheet}>
      <header className={layout.head}>
        <h1>
          {owner}/{name}
        </h1>
        {environment.may_write && <Visibility of={environment} />}
      </header>
      <p className={layout.facts}>
        <span>
          {say.visibility}: {say[visibility]}
        </span>
      </p>
      <VersionTable
        {...{ of: versions, shown }}
        none={say.noVersions}
        link={(version, mark) => (
          <Link
            to="/environments/$owner/$name"
            params={{ owner, name }}
            search={{ version }}
            {...mark}
          />
        )}
        columns={[
          {
            key: 'baseline',
            title: say.baseline,
            isNumber: true,
            cell: one => one.baseline && shortNumber(one.baseline.mean, 3),
          },
          { key: 'size', title: say.size, isNumber: true, cell: one => bytesOf(one.archive_bytes) },
          {
            key: 'used',
            title: say.usedBy,
            cell: one => one.used_by_count > 0 && say.runs(one.used_by_count),
          },
        ]}
      >
        <More of={versions} what={say.versions} />
      </VersionTable>
      {shown !== undefined && (
        <ShownVersion key={shown} environment={environment} version={shown} />
      )}
    </div>
  )
}

function Visibility({ of }: { of: Environment }) {
  const say = useWords(words)
  const { act, error, isBusy } = useAct()
  const isPublic = of.visibility === 'public'
  const change = () =>
    act(async () => {
      const visibility = isPublic ? 'private' : 'public'
      await request('PATCH', pathOf(of), { body: { visibility } })
      await reread('/api/environments')
    })
  return (
    <div className={layout.row}>
      <Failure error={error ?? null} />
      <Button busy={isBusy} onClick={() => void change()}>
        {isPublic ? say.makePrivate : say.makePublic}
      </Button>
    </div>
  )
}
