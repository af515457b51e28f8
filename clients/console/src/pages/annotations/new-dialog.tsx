import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { AnnotationInput } from '../../../../../schemas/annotations.ts'
import { Dialog } from '../../design/dialog.tsx'
import { Select, TextArea, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { NameField } from '../../design/name-field.tsx'
import { Shown } from '../../design/notice.tsx'
import { reading, reread } from '../../session/api.ts'
import { faultsIn } from '../../session/field-faults.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import { bodyOf, type Choices } from './new-body.ts'
import { words } from './new-words.ts'

type Named = { name: string }
type Rubric = { owner: string; name: string; version: number }

/** Creates a queue, and shows it. */
export function NewDialog({ onClose }: { onClose: () => void }) {
  const say = useWords(words)
  const projects = useQuery(reading<Named[]>('/api/projects', { limit: 500 }))
  return (
    <Dialog title={say.title} onClose={onClose}>
      <Shown of={projects}>
        {found =>
          found.length === 0 ? (
            <p>{say.noProject}</p>
          ) : (
            <Form projects={found.map(({ name }) => name)} onClose={onClose} />
          )
        }
      </Shown>
    </Dialog>
  )
}

const choicesOf = (values: readonly string[]) => values.map(value => ({ value, text: value }))

function Form({ projects, onClose }: { projects: readonly string[]; onClose: () => void }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const rubrics = useQuery(reading<Rubric[]>('/api/rubrics', { limit: 500 }))
  const refs = (rubrics.data ?? []).map(one => `${one.owner}/${one.name}@${one.version}`)
  const [chosen, setChosen] = useState<Choices>({
    ...{ project: projects[0] ?? '', kind: 'pairwise', from: 'samples', rubric: null },
  })
  const choices = { ...chosen, rubric: chosen.rubric ?? refs[0] ?? null }
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const body = bodyOf(given, choices)
    const made = await request<{ queue_id: string }>('POST', '/api/annotations', { body })
    await reread('/api/annotations')
    await navigate({ to: '/annotations/$queue_id', params: { queue_id: made.queue_id } })
  })
  const faults = faultsIn(error)
  const { kind, from } = choices
  return (
    <form className={layout.form} onSubmit={onSubmit}>
      <TextField
        label={say.name}
        name="name"
        maxLength={128}
        fault={faults.get('name') ?? null}
        required
        autoFocus
      />
      <Lists
        {...{ projects, refs, choices }}
        onChoose={more => setChosen({ ...chosen, ...more })}
      />
      <Source {...{ kind, from, faults }} />
      <TextField
        label={say.overlap}
        name="overlap"
        type="number"
        min={1}
        max={10}
        defaultValue={1}
        fault={faults.get('overlap') ?? null}
        required
      />
      <TextArea label={say.instructions} name="instructions" rows={3} maxLength={20_000} />
      <FormEnd
        error={[...faults.keys()].some(one => shownFaults.has(one)) ? null : error}
        isBusy={isBusy}
        text={say.create}
        onCancel={onClose}
      />
    </form>
  )
}

type ListsProps = {
  projects: readonly string[]
  /** Rubrics with their versions. */
  refs: readonly string[]
  choices: Choices
  onChoose: (more: Partial<Choices>) => void
}

/** The fields with lists. */
function Lists({ projects, refs, choices, onChoose }: ListsProps) {
  const say = useWords(words)
  const { project, kind, from, rubric } = choices
  return (
    <>
      <Select
        label={say.project}
        value={project}
        choices={choicesOf(projects)}
        onChange={next => onChoose({ project: next })}
      />
      <Select
        label={say.kind}
        value={kind}
        choices={kinds.map(value => ({ value, text: say[value] }))}
        onChange={next => onChoose({ kind: next })}
      />
      {kind === 'rubric' && rubric === null && <p>{say.noRubric}</p>}
      {kind === 'rubric' && rubric !== null && (
        <Select
          label={say.by}
          value={rubric}
          choices={choicesOf(refs)}
          onChange={next => onChoose({ rubric: next })}
        />
      )}
      <Select
        label={say.source}
        value={from}
        choices={sources.map(value => ({ value, text: say[value] }))}
        onChange={next => onChoose({ from: next })}
      />
    </>
  )
}

const sources = ['samples', 'dataset'] as const
const kinds = ['pairwise', 'rubric', 'edit'] as const
/** Any other fault has no field, and is shown at the end. */
const shownFaults = new Set([
  ...['name', 'overlap', 'source.run_id', 'source.step', 'source.ref', 'source.split'],
  ...['source.against.run_id', 'source.against.step'],
])

type SourceProps = {
  kind: AnnotationInput['kind']
  from: Choices['from']
  faults: ReadonlyMap<string, string>
}

/** Where the items come from. */
function Source({ kind, from, faults }: SourceProps) {
  const say = useWords(words)
  const at = (name: string) => {
    const fault = faults.get(name) ?? null
    // The API words it as a regular expression.
    return {
      name,
      fault: name === 'source.ref' && fault?.includes('pattern') ? say.refForm : fault,
    }
  }
  if (from === 'dataset')
    return (
      <>
        <NameField
          label={say.ref}
          placeholder="ada/answers@3"
          {...at('source.ref')}
          maxLength={256}
          required
        />
        <NameField label={say.split} hint={say.splitHint} {...at('source.split')} maxLength={64} />
      </>
    )
  return (
    <>
      <NameField
        label={say.run}
        placeholder="math-rl-142"
        {...at('source.run_id')}
        maxLength={128}
        required
      />
      <TextField label={say.step} hint={say.stepHint} {...at('source.step')} type="number" />
      {kind === 'pairwise' && (
        <>
          <NameField
            label={say.againstRun}
            hint={say.againstHint}
            {...at('source.against.run_id')}
            maxLength={128}
          />
          <TextField label={say.againstStep} {...at('source.against.step')} type="number" />
        </>
      )}
    </>
  )
}
