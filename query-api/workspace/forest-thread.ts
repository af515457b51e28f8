import { parentPort, workerData } from 'node:worker_threads'
import { type Forest, importances } from './forest.ts'

parentPort?.postMessage(importances(workerData as Forest))
