import { appendFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { runVariables } from './servers/run-variables.ts'

// Loaded before each test file: notes for the summary of `npm test` how long the file took.
const folder = process.env[runVariables.folder]
const root = join(import.meta.dirname, '..')
const began = performance.now()

if (folder !== undefined)
  process.once('exit', () => {
    const file = relative(root, fileURLToPath(test.meta.file))
    const seconds = (performance.now() - began) / 1000
    appendFileSync(join(folder, 'durations'), `${file}\t${seconds.toFixed(1)}\n`)
  })
