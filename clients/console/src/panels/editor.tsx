import { type FormEvent, type ReactNode, useState } from 'react'
import { panelLimits } from '../../../../schemas/panel-limits.ts'
import type { Panel } from '../../../../schemas/workspace.ts'
import { Dialog } from '../design/dialog.tsx'
import { Checkbox, Select, TextArea, TextField } from '../design/field.tsx'
import { FormEnd } from '../design/form-end.tsx'
import { visible } from '../words/visible.ts'
import { useWords } from '../words/words.ts'
import type { Kind, PanelOf } from './panel.ts'
import { panelFromForm } from './panel-form.ts'
import styles from './panels.module.css'
import { titleOf } from './titles.ts'
import { words } from './words.ts'

/** What panels can show: suggestions, since other names may come to exist. */
export type Names = { metrics: readonly string[]; hparams: readonly string[] }

const kinds = ['line', 'scatter', 'bar', 'parallel', 'importance', 'note'] as const

type Props = {
  /** Null for a new one. */
  panel: Panel | null
  names: Names
  onClose: () => void
  onSave: (panel: Panel) => void
}

/** Adds or changes a panel. */
export function Editor({ panel, names, onClose, onSave }: Props) {
  const say = useWords(words)
  const [kind, setKind] = useState<Kind>(panel?.kind ?? 'line')
  const [isIncomplete, setIncomplete] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const made = panelFromForm(kind, new FormData(event.currentTarget), panel)
    setIncomplete(made === null)
    if (made !== null) onSave(made)
  }
  const given = panel?.kind === kind ? panel : null
  return (
    <Dialog
      title={panel === null ? say.addTitle : say.editTitle(visible(titleOf(panel, say)))}
      onClose={onClose}
    >
      <form className={styles.form} onSubmit={submit}>
        <Select<Kind>
          label={say.kind}
          value={kind}
          choices={kinds.map(value => ({ value, text: say[value] }))}
          onChange={next => {
            setKind(next)
            setIncomplete(false)
          }}
        />
        <Fields key={kind} {...{ kind, given, names, isIncomplete }} />
        <TextField
          label={say.title}
          name="title"
          hint={say.titleHint}
          maxLength={200}
          defaultValue={panel?.title ?? ''}
        />
        <FormEnd error={null} text={say.save} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

type FieldsProps = {
  kind: Kind
  given: Panel | null
  names: Names
  /** The form was sent, and its list names too little. */
  isIncomplete: boolean
}

function Fields({ kind, given, names, isIncomplete }: FieldsProps): ReactNode {
  const say = useWords(words)
  const of = <K extends Kind>(wanted: K) => (given?.kind === wanted ? (given as PanelOf<K>) : null)
  switch (kind) {
    case 'line':
      return <LineFields {...{ names, isIncomplete }} given={of('line')} />
    case 'scatter':
      return <ScatterFields given={of('scatter')} names={names} />
    case 'parallel':
      return <ParallelFields {...{ names, isIncomplete }} given={of('parallel')} />
    case 'bar':
    case 'importance':
      return <MetricField given={of(kind)?.metric} names={names} />
    case 'note':
      return (
        <TextArea
          label={say.text}
          name="text"
          rows={8}
          maxLength={panelLimits.note}
          defaultValue={of('note')?.text}
        />
      )
  }
}

/** A text with suggestions. */
function Suggested(props: {
  label: string
  name: string
  value: string | undefined
  all: readonly string[]
  required?: boolean
  placeholder?: string
}) {
  const { label, name, value, all, required = false, placeholder } = props
  return (
    <>
      <TextField
        {...{ label, name, required, placeholder }}
        {...(required && { pattern: '.*\\S.*' })}
        list={`${name}-names`}
        maxLength={300}
        autoComplete="off"
        spellCheck={false}
        defaultValue={value ?? ''}
      />
      <datalist id={`${name}-names`}>
        {all.map(one => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  )
}

const lastOf = (names: Names) => names.metrics.map(key => `${key}:last`)
const axesOf = (names: Names) => [...names.hparams.map(key => `hparams.${key}`), ...lastOf(names)]

function MetricField({ given, names }: { given: string | undefined; names: Names }) {
  const say = useWords(words)
  const [first] = lastOf(names)
  return (
    <Suggested
      label={say.metric}
      name="metric"
      value={given ?? first}
      all={lastOf(names)}
      required
    />
  )
}

type ListProps<K extends Kind> = Pick<FieldsProps, 'names' | 'isIncomplete'> & {
  given: PanelOf<K> | null
}

const filters = ['like', 'exponential', 'gaussian'] as const

function LineFields({ given, names, isIncomplete }: ListProps<'line'>) {
  const say = useWords(words)
  const [filter, setFilter] = useState<(typeof filters)[number]>(given?.filter ?? 'like')
  return (
    <>
      <TextArea
        label={say.metrics}
        name="keys"
        hint={say.metricsHint}
        fault={isIncomplete && say.noMetric}
        rows={3}
        required
        spellCheck={false}
        defaultValue={(given?.keys ?? names.metrics.slice(0, 1)).join('\n')}
      />
      <div className={styles.pair}>
        <Suggested
          label={say.x}
          name="x"
          value={given?.over ?? given?.x}
          all={['step', 'relative', 'time', ...names.metrics]}
          placeholder={say.like}
        />
        <TextField
          label={say.smoothing}
          name="smooth"
          type="number"
          min={0}
          max={0.99}
          step={0.01}
          placeholder={say.like}
          defaultValue={given?.smooth}
        />
        <Select
          label={say.filter}
          value={filter}
          choices={filters.map(value => ({ value, text: say[value] }))}
          onChange={setFilter}
        />
        <input type="hidden" name="filter" value={filter} />
        <TextField label={say.low} name="low" type="number" step="any" defaultValue={given?.low} />
        <TextField
          label={say.high}
          name="high"
          type="number"
          step="any"
          defaultValue={given?.high}
        />
      </div>
      <Logs given={given} />
    </>
  )
}

function Logs({ given }: { given: { logX?: boolean; logY?: boolean } | null }) {
  const say = useWords(words)
  return (
    <div className={styles.pair}>
      <Checkbox label={say.logX} name="logX" defaultChecked={given?.logX === true} />
      <Checkbox label={say.logY} name="logY" defaultChecked={given?.logY === true} />
    </div>
  )
}

function ScatterFields({ given, names }: { given: PanelOf<'scatter'> | null; names: Names }) {
  const say = useWords(words)
  const all = axesOf(names)
  return (
    <>
      <div className={styles.pair}>
        <Suggested label={say.x} name="x" value={given?.x ?? all[0]} all={all} required />
        <Suggested
          label={say.y}
          name="y"
          value={given?.y ?? lastOf(names)[0] ?? all[1]}
          all={all}
          required
        />
        <Suggested label={say.colour} name="colour" value={given?.colour} all={all} />
      </div>
      <Logs given={given} />
    </>
  )
}

function ParallelFields({ given, names, isIncomplete }: ListProps<'parallel'>) {
  const say = useWords(words)
  const usual = [...axesOf({ ...names, metrics: [] }).slice(0, 5), ...lastOf(names).slice(0, 1)]
  return (
    <>
      <TextArea
        label={say.axes}
        name="axes"
        hint={say.axesHint}
        fault={isIncomplete && say.fewAxes}
        rows={6}
        required
        spellCheck={false}
        defaultValue={(given?.axes ?? usual).join('\n')}
      />
      <Suggested
        label={say.colour}
        name="colour"
        value={given ? given.colour : lastOf(names)[0]}
        all={axesOf(names)}
      />
    </>
  )
}
