import { pageOfMlflow } from './mlflow-address.ts'

location.replace(pageOfMlflow(location.hash) ?? '/')
