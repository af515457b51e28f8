import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type {
  BenchmarkRecord,
  DefinitionInput,
} from '../../../../../schemas/benchmarks/catalogue.ts'
import { Dialog } from '../../design/dialog.tsx'
import { Select, TextArea, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { reread } from '../../session/api.ts'
import { faultsIn } from '../../session/field-faults.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Better = 'higher' | 'lower'
/** `known`: the version that the next one begins with; absent: a new benchmark. */
type Props = { known?: BenchmarkRecord; onClose: () => void }

/** Defines a benchmark, or its next version. */
export function Define({ known, onClose }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [better, setBetter] = useState<Better>(
    known?.higher_is_better === false ? 'lower' : 'higher',
  )
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const name = known?.name ?? String(given.get('name')).trim()
    await request('PUT', `/api/benchmarks/${encodeURIComponent(name)}`, {
      body: definitionIn(given, better),
    })
    await reread('/api/benchmarks')
    onClose()
    void navigate({ to: '/benchmarks/$name', params: { name }, search: {} })
  })
  const faults = faultsIn(error)
  const field = (name: string, initial: string | null | undefined, isRequired = false) => ({
    ...{ name, required: isRequired, defaultValue: initial ?? '', maxLength: 250 },
    fault: faults.get(name) ?? null,
  })
  const { harness } = known ?? {}
  return (
    <Dialog title={known ? say.nextOf(known.name) : say.defineOne} onClose={onClose}>
      <form className={layout.form} onSubmit={onSubmit}>
        {!known && <TextField label={say.name} {...field('name', '', true)} autoFocus />}
        <div className={styles.pair}>
          <TextField label={say.metric} {...field('metric', known?.metric, true)} />
          <Select
            label={say.better}
            value={better}
            choices={[
              { value: 'higher', text: say.higherOnes },
              { value: 'lower', text: say.lowerOnes },
            ]}
            onChange={setBetter}
          />
        </div>
        <div className={styles.pair}>
          <TextField label={say.task} {...field('task', known?.task)} />
          <TextField label={say.split} {...field('split', known?.split)} />
        </div>
        <TextField label={say.dataset} {...field('dataset', known?.dataset)} />
        <TextField
          label={say.harness}
          hint={say.harnessHint}
          {...field(
            'harness',
            harness && [harness.name, harness.version].filter(Boolean).join('@'),
          )}
        />
        <TextArea
          label={say.description}
          name="description"
          rows={3}
          defaultValue={known?.description ?? ''}
          fault={faults.get('description') ?? null}
        />
        <FormEnd
          error={faults.size > 0 ? null : error}
          isBusy={isBusy}
          text={say.define}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

function definitionIn(given: FormData, better: Better): DefinitionInput {
  const text = (name: string) => String(given.get(name)).trim()
  const orNull = (name: string) => text(name) || null
  const [program, version = null] = text('harness').split('@')
  return {
    ...{ metric: text('metric'), higher_is_better: better === 'higher' },
    ...{ task: orNull('task'), split: orNull('split'), dataset: orNull('dataset') },
    harness: program ? { name: program, version } : null,
    description: text('description'),
  }
}
