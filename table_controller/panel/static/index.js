// The front page: sign on, and go where one's role has its work.

import { start } from "./common.js";

const HOME = { dealer: "/dealer", floorperson: "/floor", technician: "/technician", auditor: "/floor" };

start("pitbox", () => {}, (who) => { location.href = HOME[who.role]; });
