import * as sdk from "google-genai-2";

import { serve } from "./common.mjs";
import { runner } from "./genai.mjs";

await serve("google-genai-2", runner(sdk));
