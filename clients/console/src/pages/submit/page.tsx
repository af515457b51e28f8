import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { AdmissionResult } from '../../../../../schemas/jobs/jobs.ts'
import type { Recipe } from '../../../../../schemas/recipes.ts'
import { Button } from '../../design/button.tsx'
import { Field, Select } from '../../design/field.tsx'
import { Empty, Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { usePart } from '../../design/use-part.ts'
import { said, type Tree } from '../../job-specs/tree.ts'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { Checks, type Preflight } from './checks.tsx'
import { Form } from './form.tsx'
import styles from './page.module.css'
import { lockOf, newSpec, valueAt } from './spec.ts'
import { words } from './words.ts'

const readingRecipes = reading<Recipe[]>('/api/recipes', { limit: 500 })
export const ahead = () => [readingRecipes]

export function Page() {
  const say = useWords(words)
  const { from, recipe } = useSearch({ strict: false })
  const recipes = useQuery(readingRecipes)
  const origin = useQuery({
    queryKey: ['/api/jobs/clone', { from }],
    queryFn: () =>
      request<Tree>('POST', `/api/jobs/${encodeURIComponent(from ?? '')}/clone`, { body: {} }),
    enabled: from !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <div className={styles.page}>
      <Shown of={recipes}>
        {rows => {
          if (from !== undefined)
            return (
              <Shown of={origin}>
                {spec => (
                  <Editor
                    key={from}
                    recipes={rows}
                    first={said(spec)}
                    origin={{ run: from, spec }}
                  />
                )}
              </Shown>
            )
          const first = rows.find(one => named(one) === recipe) ?? rows.find(one => !one.deprecated)
          if (!first) return <Empty text={say.noRecipes} command="forge admin recipe add FOLDER" />
          const spec = newSpec(first, { project: 'demo', name: first.name })
          return <Editor recipes={rows} first={spec} origin={null} />
        }}
      </Shown>
    </div>
  )
}

const named = ({ name, version }: Recipe) => `${name}@${version}`

/** The value once it has been stable for this long. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

// It reads and writes YAML, and is larger than the rest of the page, which is shown before it arrives.
const loadYaml = () => import('./spec-text.ts')

/** The YAML is the job; the form shows its content and writes into it. */
function useSpec(first: Tree) {
  const yaml = usePart(loadYaml)
  /** Null: nobody has changed it. */
  const [written, setWritten] = useState<string | null>(null)
  const [lastTree, setLastTree] = useState(first)
  const { tree, fault } =
    written === null || yaml === null ? { tree: first, fault: null } : yaml.readText(written)
  const text = written ?? yaml?.textOf(first) ?? ''
  const write = (next: string) => {
    setWritten(next)
    const read = yaml?.readText(next).tree
    if (read) setLastTree(read)
  }
  const put = (path: readonly string[], value: unknown) => {
    if (tree && yaml) write(yaml.withValue(text, path, value))
  }
  return { text, tree: tree ?? lastTree, fault, write, put, isReady: yaml !== null }
}

/** Sends the job to the gates, a moment after its last change; null: it cannot be read. */
function usePreflight(tree: Tree | null) {
  const now = tree && JSON.stringify(tree)
  const settled = useSettled(now, 400)
  const asked = useQuery({
    queryKey: ['/api/jobs/preflight', settled],
    queryFn: ({ signal }) =>
      request<Preflight>('POST', '/api/jobs/preflight', {
        body: JSON.parse(settled ?? ''),
        signal,
      }),
    enabled: settled !== null,
    placeholderData: before => before,
    gcTime: 0,
  })
  return { asked, isCurrent: settled === now && !asked.isFetching && !asked.isPlaceholderData }
}

type Origin = { run: string; spec: Tree }
const loadDifferences = () => import('../../job-specs/differences.tsx')

type EditorProps = { recipes: readonly Recipe[]; first: Tree; origin: Origin | null }

function Editor({ recipes, first, origin }: EditorProps) {
  const say = useWords(words)
  const spec = useSpec(first)
  const { asked, isCurrent } = usePreflight(spec.fault === null ? spec.tree : null)
  const differences = usePart(origin && loadDifferences)
  const name = `${valueAt(spec.tree, ['lock', 'name'])}@${valueAt(spec.tree, ['lock', 'version'])}`
  const recipe = recipes.find(one => named(one) === name) ?? null
  return (
    <>
      <header className={styles.head}>
        <h1>{say.title}</h1>
        {origin && <p className={styles.soft}>{say.from(origin.run)}</p>}
        <Submit
          tree={spec.tree}
          unless={spec.fault !== null && say.unreadable}
          asked={{ answer: asked.data, isCurrent }}
        />
      </header>
      <div className={styles.columns}>
        <div className={styles.column}>
          <Panel title={say.form}>
            <fieldset className={styles.choice} disabled={!spec.isReady}>
              <RecipeChoice
                recipes={recipes}
                chosen={recipe}
                onChoose={next => spec.put(['lock'], lockOf(next))}
              />
              <Form tree={spec.tree} recipe={recipe} put={spec.put} isOff={spec.fault !== null} />
            </fieldset>
          </Panel>
        </div>
        <div className={styles.column}>
          <Checks of={asked} />
          {origin && differences && (
            <differences.Differences run={origin.run} before={origin.spec} now={spec.tree} />
          )}
          <Panel title={say.yaml}>
            <Field
              label="job.yaml"
              fault={spec.fault !== null ? `${say.notYaml}: ${spec.fault}` : null}
            >
              {given => (
                <textarea
                  {...given}
                  className={styles.area}
                  spellCheck={false}
                  value={spec.text}
                  readOnly={!spec.isReady}
                  onChange={event => spec.write(event.target.value)}
                />
              )}
            </Field>
          </Panel>
        </div>
      </div>
    </>
  )
}

type ChoiceProps = {
  recipes: readonly Recipe[]
  chosen: Recipe | null
  onChoose: (recipe: Recipe) => void
}

function RecipeChoice({ recipes, chosen, onChoose }: ChoiceProps) {
  const say = useWords(words)
  const choices = recipes.map(one => ({
    value: named(one),
    text: `${one.name} ${one.version} – ${one.title}${one.deprecated ? ` (${say.deprecated})` : ''}`,
  }))
  return (
    <Select
      label={say.recipe}
      value={chosen ? named(chosen) : ''}
      choices={chosen ? choices : [{ value: '', text: say.otherRecipe }, ...choices]}
      onChange={value => {
        const next = recipes.find(one => named(one) === value)
        if (next) onChoose(next)
      }}
    />
  )
}

type SubmitProps = {
  tree: Tree
  unless: string | false
  asked: { answer: Preflight | undefined; isCurrent: boolean }
}

function Submit({ tree, unless, asked: { answer, isCurrent } }: SubmitProps) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const reason = unless || (!isCurrent && say.wait) || (answer?.ok === false && say.gateRefuses)
  const submit = async () => {
    setError(null)
    setBusy(true)
    try {
      const admitted = await request<AdmissionResult>('POST', '/api/jobs', { body: tree })
      void reread('/api/jobs', '/api/runs', '/api/queue', '/api/usage')
      await navigate({ to: '/runs/$run_id', params: { run_id: admitted.short_id } })
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button kind="main" unless={reason} busy={busy} onClick={() => void submit()}>
        {say.submit}
      </Button>
      <Failure error={error} />
    </>
  )
}
