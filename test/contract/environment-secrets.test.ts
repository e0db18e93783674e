import { environmentSecrets } from "../../lib/adapters/node/environment-secrets.ts";
import { secretsContract } from "./secrets.contract.ts";

secretsContract("secrets of the environment", async (texts) =>
  environmentSecrets(
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [`FERMATA_SECRET_${name}`, text]),
    ),
  ),
);
