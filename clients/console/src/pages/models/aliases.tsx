import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { aliasMove, Model } from '../../../../../schemas/models.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { GatedReason, gatedReason, OverridingReason } from '../../shell/gated-reason.tsx'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { pathOfModel } from './path.ts'
import { words } from './words.ts'

type Alias = Model['aliases'][number]
type Asked = { what: 'history' | 'move'; alias: Alias } | { what: 'new' }

/** Which version each alias names, who moved it there, and moving it. */
export function Aliases({ model }: { model: Model }) {
  const say = useWords(words)
  const [asked, setAsked] = useState<Asked | null>(null)
  const close = () => setAsked(null)
  return (
    <Panel
      title={say.aliases}
      actions={
        model.newest_version !== null && (
          <Button onClick={() => setAsked({ what: 'new' })}>{say.moveNew}</Button>
        )
      }
    >
      {model.aliases.length === 0 ? (
        <p className={styles.soft}>{say.noAliases}</p>
      ) : (
        <Table
          caption={say.aliases}
          rows={model.aliases}
          keyOf={one => one.alias}
          columns={[
            {
              key: 'alias',
              title: say.alias,
              cell: one => (
                <>
                  <strong>{one.alias}</strong>{' '}
                  {one.is_protected && <Badge tone="good">{say.protected}</Badge>}
                </>
              ),
            },
            { key: 'version', title: say.version, isNumber: true, cell: one => one.version },
            { key: 'by', title: say.movedBy, cell: one => one.moved_by },
            { key: 'at', title: say.moved, cell: one => <Ago at={one.moved_at} /> },
            {
              key: 'actions',
              title: '',
              cell: alias => (
                <>
                  <Button
                    kind="quiet"
                    aria-label={`${say.move}: ${alias.alias}`}
                    onClick={() => setAsked({ what: 'move', alias })}
                  >
                    {say.move}
                  </Button>
                  <Button
                    kind="quiet"
                    aria-label={say.historyOf(alias.alias)}
                    onClick={() => setAsked({ what: 'history', alias })}
                  >
                    {say.history}
                  </Button>
                </>
              ),
            },
          ]}
        />
      )}
      {asked?.what === 'history' && (
        <Moves model={model.model} alias={asked.alias.alias} onClose={close} />
      )}
      {asked !== null && asked.what !== 'history' && (
        <Move model={model} alias={asked.what === 'move' ? asked.alias : null} onClose={close} />
      )}
    </Panel>
  )
}

type MovesProps = { model: string; alias: string; onClose: () => void }

function Moves({ model, alias, onClose }: MovesProps) {
  const say = useWords(words)
  const path = `${pathOfModel(model)}/aliases/${encodeURIComponent(alias)}/history`
  const moves = useQuery(reading<Static<typeof aliasMove>[]>(path, { limit: 100 }))
  return (
    <Dialog title={say.historyOf(alias)} shape="wide" onClose={onClose}>
      <QueryTable
        of={moves}
        caption={say.historyOf(alias)}
        keyOf={one => `${one.at} ${one.to}`}
        columns={[
          { key: 'at', title: say.moved, cell: one => <Ago at={one.at} /> },
          { key: 'from', title: say.from, isNumber: true, cell: one => one.from ?? '–' },
          { key: 'to', title: say.to, isNumber: true, cell: one => one.to ?? '–' },
          { key: 'by', title: say.movedBy, cell: one => one.actor },
          {
            key: 'reason',
            title: say.reason,
            cell: one => <OverridingReason of={one} />,
          },
        ]}
      />
    </Dialog>
  )
}

type MoveProps = { model: Model; alias: Alias | null; onClose: () => void }

/** Refused if somebody else has moved it meanwhile. */
function Move({ model, alias, onClose }: MoveProps) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const name = alias?.alias ?? String(given.get('alias')).trim()
    await request('PUT', `${pathOfModel(model.model)}/aliases/${encodeURIComponent(name)}`, {
      body: {
        version: Number(given.get('version')),
        ...gatedReason(given),
        expected_version: alias?.version ?? null,
      },
    })
    await reread('/api/models')
    onClose()
  })
  const title = alias ? say.moveOf(alias.alias, model.model) : say.newOf(model.model)
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        {alias === null && <TextField label={say.alias} name="alias" required autoFocus />}
        <TextField
          label={say.version}
          name="version"
          type="number"
          min={1}
          max={model.newest_version ?? 1}
          defaultValue={model.newest_version ?? 1}
          required
          autoFocus={alias !== null}
        />
        <GatedReason isGated={alias?.is_protected ?? false} override={say.override} />
        <FormEnd
          error={error}
          isBusy={isBusy}
          text={alias ? say.move : say.moveNew}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}
